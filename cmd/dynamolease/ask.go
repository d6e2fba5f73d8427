package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// addYes adds the flag that answers the question of a command.
func addYes(c *cobra.Command) *bool { return c.Flags().BoolP("yes", "y", false, "do not ask") }

// confirm says what will happen, and asks whether to go on.
func (p *program) confirm(ctx context.Context, yes bool, about, question string) error {
	fmt.Fprint(p.err, about)
	if yes {
		return nil
	}
	if !p.asks {
		return fmt.Errorf("%w: there is no terminal to ask on; use --yes", errNotConfirmed)
	}
	fmt.Fprintf(p.err, "%s [y/N] ", question)
	answer, err := p.readLine(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotConfirmed, err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errNotConfirmed
}

// readLine reads an answer. If ctx ends first, the reading goes on until the program ends: nothing
// can interrupt a read from a terminal.
func (p *program) readLine(ctx context.Context) (string, error) {
	lines := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.in).ReadString('\n') // the end of the input is an empty answer
		lines <- line
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case line := <-lines:
		return line, nil
	}
}
