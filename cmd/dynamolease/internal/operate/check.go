package operate

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// The results of a check.
const (
	resultFits   = "as it must be"
	resultUsable = "usable, but not as it should be"
	resultReady  = "ready"

	permissionsThere = "all there"
)

// A Checked reports that the table can be used, with warnings.
type Checked struct {
	Table    string   `json:"table"`
	Result   string   `json:"result"`
	TTL      string   `json:"ttl"` // DynamoDB's status
	Warnings []string `json:"warnings"`

	// Permissions says that all that an access needs are there. It is empty if none was asked about.
	Permissions string `json:"permissions,omitempty"`
}

// Check checks the table, and the permissions that each access needs. See
// [dynamolease.Store.CheckTable] and [dynamolease.Store.CheckAccess].
func (t *Table) Check(ctx context.Context, accesses ...dynamolease.Access) (Checked, error) {
	c, err := t.checked(ctx, func(store *dynamolease.Store, ctx context.Context) error {
		err := store.CheckTable(ctx)
		for _, access := range accesses {
			if err == nil {
				err = store.CheckAccess(ctx, access)
			}
		}
		return err
	})
	if err == nil && len(accesses) > 0 {
		c.Permissions = permissionsThere
	}
	if c.Result = resultFits; len(c.Warnings) > 0 {
		c.Result = resultUsable
	}
	return c, err
}

// Create makes the table, or checks the existing one. See [dynamolease.Store.CreateTable].
func (t *Table) Create(ctx context.Context) (Checked, error) {
	c, err := t.checked(ctx, (*dynamolease.Store).CreateTable)
	c.Result = resultReady
	return c, err
}

// checked calls do with a second store, whose warnings become part of the result.
func (t *Table) checked(ctx context.Context, check func(*dynamolease.Store, context.Context) error) (Checked, error) {
	warned := &warnings{}
	store, err := dynamolease.New(t.Client, t.Name, func(o *dynamolease.Options) { o.Logger = slog.New(warned) })
	if err != nil {
		return Checked{}, err
	}
	defer store.Close()
	if err := check(store, ctx); err != nil {
		return Checked{}, err
	}
	ttl, _, err := t.ttl(ctx)
	return Checked{Table: t.Name, TTL: ttl, Warnings: append([]string{}, warned.list...)}, err
}

// Text returns a line, and one more for each warning.
func (c Checked) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "table %s: %s\n", c.Table, c.Result)
	if c.Permissions != "" {
		fmt.Fprintf(&b, "permissions: %s\n", c.Permissions)
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", warning)
	}
	if c.Result == resultUsable && strings.HasPrefix(c.TTL, "DISABL") {
		fmt.Fprintf(&b, "dynamolease table create turns the TTL on, and changes nothing else\n")
	}
	return b.String()
}

// warnings is a log handler that keeps warnings. A check logs from one goroutine.
type warnings struct{ list []string }

func (w *warnings) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (w *warnings) Handle(_ context.Context, r slog.Record) error {
	w.list = append(w.list, strings.TrimPrefix(r.Message, "dynamolease: "))
	return nil
}

func (w *warnings) WithAttrs([]slog.Attr) slog.Handler { return w }

func (w *warnings) WithGroup(string) slog.Handler { return w }
