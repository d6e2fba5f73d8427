package dynamoleaseotel_test

import (
	"os"
	"testing"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }
