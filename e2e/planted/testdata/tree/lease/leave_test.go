package lease

import (
	"os"
	"os/exec"
	"strconv"
	"testing"
)

func leave(t *testing.T, file string) {
	cmd := exec.Command("sleep", "600")
	detach(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		t.Fatal(err)
	}
}
