package history

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
)

// A wallet gives a node its credentials. Now and then it has none for a while, and the request is
// not sent.
type wallet struct {
	mu    sync.Mutex
	dice  *rand.Rand
	fails bool
	until time.Time
	err   error
}

// Retrieve implements [aws.CredentialsProvider].
func (w *wallet) Retrieve(ctx context.Context) (aws.Credentials, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fails && !time.Now().Before(w.until) && w.dice.IntN(60) == 0 {
		w.until = time.Now().Add(time.Duration(w.dice.Int64N(int64(2 * time.Second))))
		w.err = []error{
			&smithy.GenericAPIError{Code: "Throttling", Message: "rate exceeded"},
			&smithy.GenericAPIError{Code: "AccessDenied", Message: "not authorized to assume the role"},
			&smithy.GenericAPIError{Code: "InternalFailure", Fault: smithy.FaultServer},
			reset("read"), errors.New("no EC2 IMDS role found"),
		}[w.dice.IntN(5)]
	}
	if time.Now().Before(w.until) {
		if c := callOf(ctx); c != nil {
			c.meet(noCredentials)
		}
		return aws.Credentials{}, w.err
	}
	return aws.Credentials{AccessKeyID: "history", SecretAccessKey: "history"}, nil
}
