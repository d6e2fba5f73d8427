package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The files that a report is published to. The first one keeps its own text, but for the tables.
const (
	costDocument = "cost.md"
	costFigures  = "cost.json"
	plotOfCost   = "plots/cost.svg"
	plotOfEnds   = "plots/takeover.svg"
)

// publish writes the documents of a complete report into a directory.
func (r *report) publish(dir string) error {
	path := filepath.Join(dir, costDocument)
	document, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	files, err := r.documents(string(document))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "plots"), 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// documents returns the contents of all files. It fills its tables into the given document.
func (r *report) documents(document string) (map[string]string, error) {
	if len(r.Rounds) == 0 || len(r.Takeovers) == 0 {
		return nil, errors.New("the run was not of everything")
	}
	var figures bytes.Buffer
	if err := r.encode(&figures); err != nil {
		return nil, err
	}
	document, err := fill(document, r.tables())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", costDocument, err)
	}
	cost, err := r.costPlot()
	if err != nil {
		return nil, err
	}
	takeovers, err := r.takeoverPlot()
	if err != nil {
		return nil, err
	}
	return map[string]string{
		costDocument: document, costFigures: figures.String(), plotOfCost: cost, plotOfEnds: takeovers,
	}, nil
}

// fill puts each table between the two comments that mark its place. The document must have one
// place for each table, and no other.
func fill(document string, tables []table) (string, error) {
	const begin, end = "<!-- measured: %s -->\n", "<!-- end of measured: %s -->\n"
	for _, t := range tables {
		opening, closing := fmt.Sprintf(begin, t.name), fmt.Sprintf(end, t.name)
		before, rest, found := strings.Cut(document, opening)
		_, after, closed := strings.Cut(rest, closing)
		if !found || !closed {
			return "", fmt.Errorf("there is no place for the table %q: it needs the lines %q and %q", t.name, opening, closing)
		}
		document = before + opening + "\n" + t.markdown() + "\n" + closing + after
	}
	if places := strings.Count(document, "<!-- measured: "); places != len(tables) {
		return "", fmt.Errorf("it has places for %d tables, and there are %d", places, len(tables))
	}
	return document, nil
}
