package iamproxy

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An allowed request reaches the server as it was sent, and no other request does.
func TestProxy(t *testing.T) {
	var arrived []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived = append(arrived, r.Header.Get("X-Amz-Target")+" "+string(body))
		_, _ = io.WriteString(w, "answer")
	}))
	defer server.Close()
	guard := NewGuard(Policy{{Actions: []string{"dynamodb:Scan"}, Resources: []string{TableARN("t")}}}, "pk")
	proxy, err := guard.Proxy(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	for _, c := range []struct {
		operation string
		status    int
		says      string
	}{
		{"Scan", http.StatusOK, "answer"},
		{"DescribeTable", http.StatusBadRequest, "com.amazon.coral.service#AccessDeniedException"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.URL, strings.NewReader(`{"TableName":"t"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+c.operation)
		resp, err := proxy.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status || !strings.Contains(string(body), c.says) {
			t.Errorf("%s: %d %s, want %d %q", c.operation, resp.StatusCode, body, c.status, c.says)
		}
		if _, err := http.ParseTime(resp.Header.Get("Date")); err != nil {
			t.Errorf("%s: its Date: %v", c.operation, err)
		}
	}
	if len(arrived) != 1 || arrived[0] != `DynamoDB_20120810.Scan {"TableName":"t"}` {
		t.Errorf("what arrived is %q", arrived)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if _, err := guard.Proxy("\x00"); err == nil {
		t.Error("a target that is no URL is accepted")
	}
}
