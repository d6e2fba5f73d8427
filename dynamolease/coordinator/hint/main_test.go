package hint_test

import (
	"os"
	"testing"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

// TestMain also expects that no goroutine is left.
func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
