package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/dynamolease/dynamolease/tools/internal/demo"
)

// print prints the verdict as JSON, or as text: the details, what is off, and the line of the
// figures.
func print(out io.Writer, v demo.Verdict, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	var b strings.Builder
	fmt.Fprintln(&b, v.Details())
	for _, problem := range v.Problems {
		fmt.Fprintln(&b, "OFF:", problem)
	}
	fmt.Fprintln(&b, v)
	_, err := io.WriteString(out, b.String())
	return err
}
