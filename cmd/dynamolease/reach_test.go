//go:build unix

package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/internal/testkit"
)

// behindProxy is an endpoint that has no address: only a proxy knows the way.
const behindProxy = "http://dynamodb.invalid:8000"

// The command reaches an endpoint by the proxy that its requests go through.
func TestProxy(t *testing.T) {
	newFixture(t).seed()
	transport := testkit.Server(t).Transport()
	t.Cleanup(transport.Close)
	proxy := httptest.NewServer(passThrough(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"), transport))
	t.Cleanup(proxy.Close)
	nobody := "HTTP_PROXY=http://user:secret@127.0.0.1:1"
	for name, c := range map[string]struct {
		env            []string
		args           []string
		code           int
		stdout, stderr string // parts
		passed         bool   // through the proxy
	}{
		"leases":             {[]string{"HTTP_PROXY=" + proxy.URL}, []string{"leases", "orders", "--endpoint-url", behindProxy}, 0, "invoice 4711", "", true},
		"by the environment": {[]string{"http_proxy=" + proxy.URL, "AWS_ENDPOINT_URL_DYNAMODB=" + behindProxy}, []string{"members", "shop"}, 0, "a.example:8080", "", true},
		"no account":         {[]string{"HTTP_PROXY=" + proxy.URL, "AWS_REGION="}, []string{"leases", "orders", "--endpoint-url", behindProxy}, 2, "", "no Region is given", false},
		"proxy is away": {[]string{nobody}, []string{"leases", "orders", "--endpoint-url", behindProxy}, 1, "",
			"reach the proxy http://user:xxxxx@127.0.0.1:1: proxyconnect tcp: dial tcp 127.0.0.1:1: connect: connection refused\nthe proxy cannot be reached: check HTTP_PROXY, ", false},
		"this machine": {[]string{nobody}, []string{"leases", "orders"}, 0, "invoice 4711", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			transport.Reset()
			account := []string{"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_REGION=eu-west-1", "NO_PROXY=", "no_proxy=", "REQUEST_METHOD="}
			cmd := asProcess(t, append(account, c.env...), c.args...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(out.String(), c.stdout) || !strings.Contains(errs.String(), c.stderr) {
				t.Errorf("code %d, want %d: %s\n%s", code, c.code, &out, &errs)
			}
			if passed := transport.Count("") > 0; passed != c.passed {
				t.Errorf("through the proxy: %v, want %v", passed, c.passed)
			}
		})
	}
}
