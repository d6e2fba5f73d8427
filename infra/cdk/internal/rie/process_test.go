package rie

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// bootstrapVariable is set in the process that TestFunctionEndsWithTheTest kills.
const bootstrapVariable = "RIE_TEST_BOOTSTRAP"

func TestMain(m *testing.M) {
	code := m.Run()
	if err := Clean(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// If a test process is killed in the middle of an invocation, it leaves neither the emulator nor
// the function behind.
func TestFunctionEndsWithTheTest(t *testing.T) {
	if bootstrap := os.Getenv(bootstrapVariable); bootstrap != "" {
		invokeForEver(t, bootstrap)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFunctionEndsWithTheTest$")
	cmd.Env = append(os.Environ(), bootstrapVariable+"="+Build(t))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	pids := strings.Fields(line)
	if len(pids) != 2 {
		t.Fatalf("want the emulator and the function, got %q", line)
	}
	for _, pid := range pids {
		awaitEnd(t, pid)
	}
}

// invokeForEver invokes a function whose database never answers, prints the processes, and waits.
func invokeForEver(t *testing.T, bootstrap string) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := Start(t.Context(), t, Function{
		Bootstrap: bootstrap,
		Timeout:   time.Minute,
		Env:       map[string]string{"DYNAMOLEASE_TABLE": "leases", "AWS_ENDPOINT_URL": "http://" + silent.Addr().String()},
	})
	go func() { _, _, _ = p.Invoke(context.Background(), nil) }()
	if _, err := silent.Accept(); err != nil {
		t.Fatal(err)
	}
	children, err := childrenOf(p.cmd.Process.Pid)
	if err != nil || len(children) != 1 {
		t.Fatalf("the emulator has the processes %v, %v", children, err)
	}
	fmt.Println(p.cmd.Process.Pid, children[0])
	select {}
}

// awaitEnd waits until a process that another process has started ends.
func awaitEnd(t *testing.T, pid string) {
	t.Helper()
	if _, err := strconv.Atoi(pid); err != nil {
		t.Fatalf("%q is no number of a process", pid)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	ticker := time.NewTicker(probePeriod)
	defer ticker.Stop()
	for {
		stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("process %s still runs: %s", pid, stat)
		}
	}
}

// If the emulator ends at once, the error says why.
func TestStartTellsWhy(t *testing.T) {
	_, err := start(t.Context(), "/bin/false", Function{})
	if err == nil || !strings.Contains(err.Error(), errExited.Error()) {
		t.Errorf("want %v, got %v", errExited, err)
	}
}

// An invocation fails if the function is not an executable.
func TestInvokeWithoutAFunction(t *testing.T) {
	p := Start(t.Context(), t, Function{Bootstrap: filepath.Join(t.TempDir(), "bootstrap")})
	body, status, err := p.Invoke(t.Context(), nil)
	if err != nil || status == 200 {
		t.Errorf("invoke: %d, %v: %s", status, err, body)
	}
	p.Stop()
	p.Stop()
	if _, _, err := p.Invoke(t.Context(), nil); err == nil {
		t.Error("a process that was stopped answers")
	}
	if _, err := p.Await(t.Context(), "no such line"); err == nil {
		t.Error("a line that is not there was found")
	}
}
