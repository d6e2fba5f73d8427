package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const thisPackage = "github.com/dynamolease/dynamolease/tools/internal/bench"

// inBubble runs one of this package's own tests, which measures in virtual time: the figures then
// depend on no machine. It needs Go and the source. The flag tells the test which file to write the
// figures to.
func inBubble(ctx context.Context, test, flag string, figures any, args ...string) (err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "figures.json")
	args = append([]string{"test", "-count=1", "-timeout=0", "-run=^" + test + "$", thisPackage, "-" + flag + "=" + file}, args...)
	command := exec.CommandContext(ctx, "go", args...)
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w\n%.3000s", command, err, out)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(written, figures); err != nil {
		return fmt.Errorf("read the figures: %w", err)
	}
	return nil
}
