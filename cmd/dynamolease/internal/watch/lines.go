package watch

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

const clockTime = "15:04:05"

// lines is a view of plain lines: the members whenever they change, and each move.
type lines struct {
	out  io.Writer
	told string // the latest text about the members
	bad  string // the latest text about malformed rows
	away bool   // the latest look failed
}

func (l *lines) show(s *snapshot) error {
	var b strings.Builder
	at := s.At.Format(clockTime)
	if away := s.Error != ""; away != l.away {
		l.away = away
		if !away {
			fmt.Fprintf(&b, "%s  reached again\n", at)
		} else {
			fmt.Fprintf(&b, "%s  cannot look: %s\n", time.Now().Format(clockTime), s.Error)
		}
	}
	if bad := strings.Join(s.Malformed, "; "); bad != l.bad {
		if l.bad = bad; bad == "" {
			bad = "nothing any more"
		}
		fmt.Fprintf(&b, "%s  left out, as it cannot be read: %s\n", at, operate.Printable(bad))
	}
	for _, m := range s.Moves {
		if !s.first {
			fmt.Fprintf(&b, "%s  %s\n", m.At.Format(clockTime), m)
		}
	}
	if summary := s.summary(); summary != l.told {
		l.told = summary
		fmt.Fprintf(&b, "%s  %s\n", at, summary)
	}
	_, err := io.WriteString(l.out, b.String())
	return err
}

func (l *lines) close() error { return nil }

// summary names the members, each with its share of the work.
func (s *snapshot) summary() string {
	parts := make([]string, len(s.Members), len(s.Members)+1)
	if len(s.Members) == 0 {
		parts = append(parts, "no members")
	}
	for i, m := range s.Members {
		parts[i] = fmt.Sprintf("%s%s:", operate.Printable(m.Node), m.state(" (", ")"))
		for j, g := range s.Groups {
			parts[i] += fmt.Sprintf(" %d of %s", m.Shares[j], operate.Printable(g.Name))
		}
	}
	if free := s.unowned(); free != "" {
		parts = append(parts, free)
	}
	return strings.Join(parts, "; ")
}

// unowned says how many partitions of which groups nobody holds, and "" if there are none.
func (s *snapshot) unowned() string {
	text := ""
	for _, g := range s.Groups {
		if n := len(g.Unowned); n > 0 {
			text += fmt.Sprintf(" %d of %s", n, operate.Printable(g.Name))
		}
	}
	if text == "" {
		return ""
	}
	return "nobody:" + text
}

// state returns the state of a member between two texts, or "" if the member takes part as usual.
func (m member) state(before, after string) string {
	switch {
	case !m.Here:
		return before + "no member" + after
	case m.Drained:
		return before + "drained" + after
	default:
		return ""
	}
}

func (m move) String() string {
	from, to := "nobody", "nobody"
	if m.From != "" {
		from = operate.Printable(m.From)
	}
	if m.To != "" {
		to = operate.Printable(m.To)
	}
	return fmt.Sprintf("%s/%d  %s -> %s  epoch %d", operate.Printable(m.Group), m.Partition, from, to, m.Epoch)
}

// jsonLines is a view of JSON, with a line for each change.
type jsonLines struct {
	out  io.Writer
	told string
	bad  string
	away bool
}

func (l *jsonLines) show(s *snapshot) error {
	summary, bad, away := s.summary(), strings.Join(s.Malformed, "\n"), s.Error != ""
	if !s.first && len(s.Moves) == 0 && summary == l.told && bad == l.bad && away == l.away {
		return nil
	}
	l.told, l.bad, l.away = summary, bad, away
	return json.NewEncoder(l.out).Encode(s)
}

func (l *jsonLines) close() error { return nil }
