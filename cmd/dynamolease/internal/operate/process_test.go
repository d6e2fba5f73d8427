package operate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// When it expires is said by wall clocks; that an owner has resigned is certain.
func TestExpiryOfAProcess(t *testing.T) {
	for want, process := range map[string]operate.Process{
		"expires   in 9.9 s (by wall clocks; nothing is decided by it)\n":    {ExpiresIn: 9900 * time.Millisecond},
		"expires   1.2s ago (by wall clocks; nothing is decided by it)\n":    {ExpiresIn: -1200 * time.Millisecond},
		"expires   resigned: anybody may take over at once\nresigned  yes\n": {Record: processlease.Record{Resigned: true}, ExpiresIn: time.Second},
	} {
		if text := process.Text(); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
