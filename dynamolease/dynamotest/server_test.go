package dynamotest_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// dieEnv has the test program start a server and die at once.
const dieEnv = "DYNAMOTEST_START_AND_DIE"

func TestTableIsFreshAndActive(t *testing.T) {
	s := server(t)
	var table string
	t.Run("test", func(t *testing.T) {
		table = s.Table(t)
		if other := s.Table(t); other == table && s.Endpoint() != "" {
			t.Errorf("%s was given out twice", table)
		}
		out, err := s.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		if out.Table.TableStatus != types.TableStatusActive {
			t.Errorf("the table is %s", out.Table.TableStatus)
		}
		ttl, err := s.Client().DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &table})
		if err != nil {
			t.Fatal(err)
		}
		if got := aws.ToString(ttl.TimeToLiveDescription.AttributeName); got != "ttl" {
			t.Errorf("the TTL attribute is %q", got)
		}
	})
	if s.Endpoint() == "" {
		return // on AWS the table stays
	}
	_, err := s.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if !is[*types.ResourceNotFoundException](err) {
		t.Errorf("the table is left behind: %v", err)
	}
}

func TestServersAreApart(t *testing.T) {
	var servers []*dynamotest.Server
	for range 3 {
		servers = append(servers, ownChild(t))
	}
	table := servers[0].Table(t)
	for _, s := range servers[1:] {
		if err := add(t.Context(), s.Client(), table, "row"); !is[*types.ResourceNotFoundException](err) {
			t.Errorf("another server knows the table: %v", err)
		}
	}
}

func TestCloseEndsTheServer(t *testing.T) {
	s := ownChild(t)
	var closers sync.WaitGroup
	for range 3 {
		closers.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closers.Wait()
	if answers(t.Context(), s.Endpoint()) {
		t.Error("it still answers")
	}
	if err := s.Kill(); err == nil {
		t.Error("Kill succeeded after Close")
	}
	if err := s.Restart(); err == nil {
		t.Error("Restart succeeded after Close")
	}
}

func TestRestartKeepsRowsOnDisk(t *testing.T) {
	s := ownChild(t, func(o *dynamotest.Options) { o.Dir = t.TempDir() })
	table, client, endpoint := s.Table(t), s.Client(noRetries), s.Endpoint()
	for want := 1; want <= 3; want++ {
		if err := add(t.Context(), client, table, "row"); err != nil {
			t.Fatal(err)
		}
		if err := s.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := add(t.Context(), client, table, "row"); err == nil {
			t.Error("a dead server answered")
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		if s.Endpoint() != endpoint {
			t.Errorf("the endpoint changed to %s", s.Endpoint())
		}
		if got := count(t, client, table, "row"); got != want {
			t.Errorf("applied %d times, want %d", got, want)
		}
	}
}

func TestRestartForgetsRowsInMemory(t *testing.T) {
	s := ownChild(t)
	table := s.Table(t)
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := add(t.Context(), s.Client(), table, "row"); !is[*types.ResourceNotFoundException](err) {
		t.Errorf("got %v, want no such table", err)
	}
}

func TestStartOnEndpoint(t *testing.T) {
	ours := ownChild(t)
	t.Setenv("DYNAMODB_ENDPOINT", ours.Endpoint())
	s := own(t)
	if err := add(t.Context(), s.Client(), s.Table(t), "row"); err != nil {
		t.Error(err)
	}
	if err := s.Kill(); err != dynamotest.ErrNotOurs {
		t.Errorf("Kill: got %v, want ErrNotOurs", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !answers(t.Context(), ours.Endpoint()) {
		t.Error("closing the connected server ended the real one")
	}
}

func TestStartRefusesBadSettings(t *testing.T) {
	for name, env := range map[string][3]string{
		"no URL":     {"DYNAMODB_ENDPOINT", "localhost:8000", "not a URL"},
		"no program": {"DYNOXIDE_BIN", "/nowhere/dynoxide", "DYNOXIDE_BIN"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DYNAMODB_ENDPOINT", "")
			t.Setenv("DYNAMOLEASE_TEST_AWS", "")
			t.Setenv(env[0], env[1])
			if s, err := dynamotest.Start(t.Context()); err == nil || !strings.Contains(err.Error(), env[2]) {
				t.Errorf("got %v, %v", s, err)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		s := ownChild(t)
		_ = s.Close()
		t.Setenv("DYNAMODB_ENDPOINT", s.Endpoint())
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := dynamotest.Start(ctx); err == nil || !strings.Contains(err.Error(), "DYNAMODB_ENDPOINT") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("both", func(t *testing.T) {
		t.Setenv("DYNAMODB_ENDPOINT", "http://localhost:8000")
		t.Setenv("DYNAMOLEASE_TEST_AWS", "1")
		if _, err := dynamotest.Start(t.Context()); err == nil {
			t.Error("started")
		}
	})
}

// TestProgramThatExits has Start report what the program said.
func TestProgramThatExits(t *testing.T) {
	program := script(t, "dynoxide", "echo out of cheese >&2; exit 3")
	t.Setenv("DYNAMODB_ENDPOINT", "")
	t.Setenv("DYNAMOLEASE_TEST_AWS", "")
	t.Setenv("DYNOXIDE_BIN", program)
	if _, err := dynamotest.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "out of cheese") {
		t.Errorf("got %v", err)
	}
}

// TestServerOutlivesThreads ends many threads of the process: none of them may take the server along.
func TestServerOutlivesThreads(t *testing.T) {
	s := ownChild(t)
	var threads sync.WaitGroup
	for range 100 {
		threads.Go(runtime.LockOSThread) // the thread ends with the goroutine
	}
	threads.Wait()
	if err := add(t.Context(), s.Client(), s.Table(t), "row"); err != nil {
		t.Error(err)
	}
}

// TestServerDiesWithItsParent kills a process that has started a server.
func TestServerDiesWithItsParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ties the life of a child to that of its parent")
	}
	ownChild(t) // skips if none can be started
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), dieEnv+"=1", "DYNAMODB_ENDPOINT=", "DYNAMOLEASE_TEST_AWS=")
	out, err := cmd.Output()
	if err == nil {
		t.Fatalf("the process did not die: %s", out)
	}
	endpoint := strings.TrimSpace(string(out))
	if !strings.HasPrefix(endpoint, "http://") {
		t.Fatalf("the process printed %q", endpoint)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for answers(ctx, endpoint) {
		runtime.Gosched()
	}
	if ctx.Err() != nil {
		t.Error("the server lives on")
	}
}

func startAndDie() {
	s, err := dynamotest.Start(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.Endpoint())
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	fmt.Println(err)
	select {} // the signal may take a moment
}

// answers reports whether anything listens at endpoint.
func answers(ctx context.Context, endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
