package rie

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// A log keeps everything that is written to it.
type log struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{} // closed and replaced with each write
}

func newLog() *log { return &log{grown: make(chan struct{})} }

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.grown)
	l.grown = make(chan struct{})
	return l.text.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// line returns the first whole line that contains the text. If there is none, it returns a channel
// that is closed when the log grows.
func (l *log) line(text string) (string, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		if strings.HasSuffix(line, "\n") && strings.Contains(line, text) {
			return strings.TrimSpace(line), nil
		}
	}
	return "", l.grown
}

func (l *log) await(ctx context.Context, end <-chan struct{}, text string) (string, error) {
	for {
		line, grown := l.line(text)
		if grown == nil {
			return line, nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return "", fmt.Errorf("wait for %q in the log: %w", text, context.Cause(ctx))
		case <-end:
			if line, grown = l.line(text); grown == nil {
				return line, nil
			}
			return "", errors.New("the log ended without " + text)
		}
	}
}
