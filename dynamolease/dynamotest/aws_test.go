package dynamotest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

var awsCredentials = aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "secret", SessionToken: "token"}

// pretendAWS starts a server that takes only requests with a signature as fresh and as right as AWS wants it,
// and sets the usual AWS configuration to use it.
func pretendAWS(t *testing.T) (refused *atomic.Int64) {
	t.Helper()
	upstream, err := url.Parse(ownChild(t).Endpoint())
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(upstream)
	transport := &http.Transport{DisableKeepAlives: true}
	proxy.Transport = transport
	refused = new(atomic.Int64)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !signed(r) {
			refused.Add(1)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	for name, value := range map[string]string{
		"DYNAMODB_ENDPOINT":         "",
		"DYNAMOLEASE_TEST_AWS":      "1",
		"AWS_ENDPOINT_URL_DYNAMODB": front.URL,
		"AWS_ACCESS_KEY_ID":         awsCredentials.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY":     awsCredentials.SecretAccessKey,
		"AWS_SESSION_TOKEN":         awsCredentials.SessionToken,
		"AWS_REGION":                "eu-west-1",
		"AWS_PROFILE":               "",
		"AWS_CONFIG_FILE":           "/nowhere",
		"AWS_CA_BUNDLE":             "",
	} {
		t.Setenv(name, value)
	}
	return refused
}

// signed signs the request itself and compares.
func signed(r *http.Request) bool {
	at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	if err != nil || time.Since(at).Abs() > 15*time.Minute {
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	again := r.Clone(r.Context())
	again.URL.Host = r.Host
	again.Header.Del("Authorization")
	again.Header.Del("Connection") // added on the way, after signing
	hash := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(r.Context(), awsCredentials, again, hex.EncodeToString(hash[:]), "dynamodb", "eu-west-1", at)
	return err == nil && again.Header.Get("Authorization") == r.Header.Get("Authorization")
}

func TestAWS(t *testing.T) {
	refused := pretendAWS(t)
	s, err := dynamotest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	table := s.Table(t)
	if other := s.Table(t); other != table {
		t.Errorf("two tables: %s and %s", table, other)
	}
	if err := add(t.Context(), s.Client(), table, "row"); err != nil {
		t.Error(err)
	}
	pooled := s.Transport()
	defer pooled.Close()
	if err := add(t.Context(), pooled.Client(), table, "row"); err != nil {
		t.Error(err)
	}
	synctest.Test(t, func(t *testing.T) {
		virtual := s.VirtualTransport()
		defer virtual.Close()
		client := virtual.Client(noRetries)
		for range 3 {
			if err := add(t.Context(), client, table, "row"); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Hour)
		}
		if got := count(t, client, table, "row"); got != 5 {
			t.Errorf("applied %d times, want 5", got)
		}
	})
	client := s.Client(noRetries)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	_, err = client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if !is[*types.ResourceNotFoundException](err) {
		t.Errorf("the table is left behind: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := refused.Load(); got != 0 {
		t.Errorf("%d requests were badly signed", got)
	}
}
