package dynamolease_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A preparation fails as often as it is told to, before a request can be sent.
type preparation struct {
	failures int // still to come
	err      error
	dynamodb.EndpointResolverV2
}

func (p *preparation) fail() error {
	if p.failures == 0 {
		return nil
	}
	p.failures--
	return p.err
}

func (p *preparation) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, p.fail()
}

func (p *preparation) ResolveEndpoint(ctx context.Context, params dynamodb.EndpointParameters) (smithyendpoints.Endpoint, error) {
	if err := p.fail(); err != nil {
		return smithyendpoints.Endpoint{}, err
	}
	return p.EndpointResolverV2.ResolveEndpoint(ctx, params)
}

func (p *preparation) SignHTTP(ctx context.Context, c aws.Credentials, r *http.Request, hash, service, region string, at time.Time, opts ...func(*v4.SignerOptions)) error {
	if err := p.fail(); err != nil {
		return err
	}
	return v4.NewSigner().SignHTTP(ctx, c, r, hash, service, region, at, opts...)
}

// answeredByAnother is the error of another service than DynamoDB, such as STS or the agent of the node's credentials.
func answeredByAnother(status int, code string) error {
	return &smithy.OperationError{ServiceID: "STS", OperationName: "AssumeRole", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: "on purpose"},
	}}
}

// preparations are the ways in which a request can fail before it is sent.
var preparations = map[string]struct {
	err error
	in  func(o *dynamodb.Options, p *preparation)
}{
	"endpoint": {errors.New("no endpoint, on purpose"), func(o *dynamodb.Options, p *preparation) {
		p.EndpointResolverV2 = o.EndpointResolverV2
		o.EndpointResolverV2 = p
	}},
	"signature": {errors.New("no signature, on purpose"), func(o *dynamodb.Options, p *preparation) { o.HTTPSignerV4 = p }},
}

func init() {
	for name, err := range map[string]error{
		"cannot be reached":   errors.New("dial: on purpose"),
		"500":                 answeredByAnother(500, "InternalFailure"),
		"503":                 answeredByAnother(503, "ServiceUnavailable"),
		"denied":              answeredByAnother(403, "AccessDenied"),
		"denied as by tables": answeredByAnother(400, "AccessDeniedException"),
		"throttled":           answeredByAnother(400, "ThrottlingException"),
		"not found":           answeredByAnother(404, "ResourceNotFoundException"),
		"token expired":       answeredByAnother(400, "ExpiredTokenException"),
		"invalid":             answeredByAnother(400, "ValidationError"),
	} {
		preparations["credentials, "+name] = struct {
			err error
			in  func(o *dynamodb.Options, p *preparation)
		}{err, func(o *dynamodb.Options, p *preparation) { o.Credentials = p }}
	}
}

// preparedNode is a node whose requests can fail before they are sent.
func (w *world) preparedNode(name string, each bool) (*node, *preparation) {
	w.Helper()
	how := preparations[name]
	n, p := w.faultyNode(each), &preparation{err: how.err}
	n.raw = n.Path.Client(func(o *dynamodb.Options) { how.in(o, p) })
	store, err := dynamolease.New(n.raw, w.Table, func(o *dynamolease.Options) {
		o.Elapsed = n.Clocks()
		if each {
			o.Renewal = dynamolease.EachItem
		}
	})
	if err != nil {
		w.Fatal(err)
	}
	n.Store = store
	w.Cleanup(store.Close)
	n.members()
	return n, p
}

// LS51, B01: what failed before it was sent is tried again, and the call goes on when the cause is gone.
func TestUnsentOnceLS51(t *testing.T) {
	for name := range preparations {
		t.Run(name, func(t *testing.T) {
			for _, op := range operations {
				t.Run(op.name, func(t *testing.T) {
					testkit.Sample(t)
					inVirtualTime(t, func(w *world) {
						n, p := w.preparedNode(name, op.each)
						op.prepare(n)
						p.failures = 3
						if err := op.call(w.Context(), n); err != nil {
							w.Error(err)
						}
						if p.failures > 0 {
							w.Errorf("%d failures are left", p.failures)
						}
						op.check(n)
					})
				})
			}
		})
	}
}

// LS51, B01: while the cause lasts, a call tries until its context ends, and says why it failed, and nothing else.
func TestUnsentLS51(t *testing.T) {
	for name, how := range preparations {
		t.Run(name, func(t *testing.T) {
			for _, op := range operations {
				t.Run(op.name, func(t *testing.T) {
					testkit.Sample(t)
					inVirtualTime(t, func(w *world) {
						n, p := w.preparedNode(name, op.each)
						op.prepare(n)
						n.wantUnsent(p, how.err, func(ctx context.Context) error { return op.call(ctx, n) })
						p.failures = 0
						if err := op.call(w.Context(), n); err != nil {
							w.Errorf("when it is over: %v", err)
						}
						op.check(n)
					})
				})
			}
			for _, other := range []string{"CheckTable", "CreateTable", "Drain", "Drained", "process lease"} {
				t.Run(other, func(t *testing.T) {
					inVirtualTime(t, func(w *world) {
						n, p := w.preparedNode(name, false)
						n.wantUnsent(p, how.err, n.otherOperations()[other])
					})
				})
			}
		})
	}
}

// wantUnsent expects of a call that can send nothing that it tries until its context ends, and says why.
func (n *node) wantUnsent(p *preparation, cause error, call func(ctx context.Context) error) {
	n.w.Helper()
	const many, limit = 1 << 30, 2 * time.Second
	n.Path.Reset()
	p.failures = many
	ctx, cancel := context.WithTimeout(n.w.Context(), limit)
	defer cancel()
	start := time.Now()
	err := call(ctx)
	if took := time.Since(start); took < limit-time.Second || many-p.failures < 3 {
		n.w.Errorf("given up after %v and %d attempts", took, many-p.failures)
	}
	setup := new(dynamolease.SetupError)
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "on purpose") || errors.Is(err, dynamolease.ErrUnknownOutcome) || errors.As(err, &setup) {
		n.w.Errorf("error %v, want %v in its own words", err, cause)
	}
	if sent := n.Path.Requests(); len(sent) > 0 {
		n.w.Errorf("sent %v", sent)
	}
}
