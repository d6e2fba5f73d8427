package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const document = "../../docs/command.md"

var update = flag.Bool("update", false, "write what the commands print into "+document)

// withoutTTL is the name of a table in the documentation.
const withoutTTL = "old-leases"

// The commands print what docs/command.md shows, except for names, times and numbers that change
// each time.
func TestDocs(t *testing.T) {
	f := newFixture(t)
	f.other = f.another("pk", "sk")
	written, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var renewed strings.Builder
	blocks := strings.Split(string(written), "```console\n")
	renewed.WriteString(blocks[0])
	for _, block := range blocks[1:] {
		shown, rest, ok := strings.Cut(block, "```")
		if !ok {
			t.Fatal("a block does not end")
		}
		got := f.transcript(shown)
		renewed.WriteString("```console\n" + got + "```" + rest)
		if got, want := normal(got), normal(shown); got != want && !*update {
			t.Errorf("got:\n%s\nwant:\n%s", got, want)
		}
	}
	if *update {
		if err := os.WriteFile(document, []byte(renewed.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// transcript runs the commands of a block, and returns it with their output.
func (f *fixture) transcript(block string) string {
	var b strings.Builder
	code := 0
	for line := range strings.Lines(block) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "$ %s\n", command)
		if command == "echo $?" {
			fmt.Fprintln(&b, code)
			continue
		}
		args, ok := strings.CutPrefix(command, "dynamolease ")
		if !ok {
			f.Fatalf("what is %q?", command)
		}
		var out string
		code, out = f.run(strings.Fields(strings.ReplaceAll(args, withoutTTL, f.other)))
		out = strings.ReplaceAll(out, f.other, withoutTTL)
		out = regexp.MustCompile(`arn:aws:dynamodb:[^:]*:\d*`).ReplaceAllString(out, "arn:aws:dynamodb:eu-west-1:123456789012")
		b.WriteString(strings.ReplaceAll(out, f.table, "leases"))
	}
	return b.String()
}

// run runs a command with stdout and stderr in one, as on a terminal. It interrupts a watch after
// its first line.
func (f *fixture) run(args []string) (code int, out string) {
	f.prepare(args)
	ctx, cancel := context.WithCancel(f.Context())
	defer cancel()
	var b interrupter
	if args[0] == "watch" {
		b.cancel = cancel
	}
	p := &program{out: &b, err: &b}
	return p.run(ctx, args), b.text.String()
}

// An interrupter interrupts the program at the end of the first line of output.
type interrupter struct {
	text   bytes.Buffer
	cancel func()
}

func (i *interrupter) Write(b []byte) (int, error) {
	n, err := i.text.Write(b)
	if i.cancel != nil && bytes.Contains(b, []byte("\n")) {
		i.cancel()
	}
	return n, err
}

// The parts of the output that change each time, in the order of their replacement.
var volatile = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`), "UUID"},
	{regexp.MustCompile(`arn:\S+`), "ARN"},
	{regexp.MustCompile(`RequestID: [^,]+`), "RequestID"},
	{regexp.MustCompile(`\b1[0-9]{12}\b`), "EPOCH"},
	{regexp.MustCompile(`-?\d+\.\d-\d+\.\d s`), "LEFT"},
	{regexp.MustCompile(`"at_(least|most)_ms": \d+`), "LEFT"},
	{regexp.MustCompile(`in -?\d+\.\d s|[0-9.ms]+ ago`), "SOON"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`\d+ \(\d+ bytes\)`), "SIZE"},
	{regexp.MustCompile(`[0-9.]+ (read|write) units`), "UNITS"},
	{regexp.MustCompile(` {2,}`), "  "},
}

func normal(text string) string {
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.name)
	}
	return text
}

// Each command is in the documentation's table, and each of its flags somewhere.
func TestDocsNameEachCommand(t *testing.T) {
	written, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(written)
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		name := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "dynamolease"), " ")
		if name != "" && !c.Hidden && c.Name() != "help" && !c.HasSubCommands() && !strings.Contains(text, "`"+name) {
			t.Errorf("%q is not in %s", name, document)
		}
		if !c.Hidden {
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if !strings.Contains(text, "--"+f.Name) {
					t.Errorf("--%s of %q is not in %s", f.Name, name, document)
				}
			})
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit((&program{}).root())
}
