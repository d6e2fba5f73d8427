package demo

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	tests := []struct {
		name  string
		steps int
		work  time.Duration // of each step by itself
		want  time.Duration // after all steps and the final wait
	}{
		{"even", 4, 0, time.Second},
		{"work is part of it", 4, 200 * time.Millisecond, time.Second},
		{"slow work is not slowed down", 4, 400 * time.Millisecond, 1600 * time.Millisecond},
		{"nothing to do", 0, 0, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				started := time.Now()
				p := newPace(time.Second, tt.steps)
				for range tt.steps {
					time.Sleep(tt.work) // in virtual time
					if err := p.wait(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if err := p.wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := time.Since(started); got != tt.want {
					t.Errorf("took %v, want %v", got, tt.want)
				}
			})
		})
	}
}

func TestPaceEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTaken)
	if err := newPace(time.Hour, 1).wait(ctx); !errors.Is(err, errTaken) {
		t.Errorf("wait = %v, want %v", err, errTaken)
	}
}
