package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// bill makes one call of each side of an operation through recording transports, checks that both
// sent the same requests, and adds up what they are billed as.
func (b *bench) bill(ctx context.Context, o operation) (bill, error) {
	record := func(start func(*lab, context.Context, *dynamotest.Transport) (*runner, error)) ([]exchange, error) {
		transport := b.lab.server.Transport()
		defer transport.Close()
		r, err := start(b.lab, ctx, transport)
		if err != nil {
			return nil, err
		}
		call, err := r.next(ctx)
		if err != nil {
			return nil, err
		}
		var t tape
		defer transport.Every("", t.record)()
		err = call()
		return t.exchanges, err
	}
	library, err := record(func(l *lab, ctx context.Context, t *dynamotest.Transport) (*runner, error) {
		return l.library(ctx, t.Client(withoutRetries), o)
	})
	if err != nil {
		return bill{}, fmt.Errorf("record the library: %w", err)
	}
	bare, err := record(func(l *lab, ctx context.Context, t *dynamotest.Transport) (*runner, error) {
		return l.bare(ctx, t.Client(withoutRetries), o)
	})
	if err != nil {
		return bill{}, fmt.Errorf("record the bare SDK: %w", err)
	}
	if err := same(library, bare); err != nil {
		return bill{}, err
	}
	return price(o.name, library)
}

// An exchange is a request and its answer.
type exchange struct {
	op              string
	request, answer []byte
}

// A tape is a harmless fault of a Transport: it keeps the exchanges.
type tape struct {
	mu        sync.Mutex
	exchanges []exchange
}

func (t *tape) record(req *http.Request, send dynamotest.Send) (*http.Response, error) {
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	request, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	resp, err := send(req)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	_, op, _ := strings.Cut(req.Header.Get("X-Amz-Target"), ".")
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exchanges = append(t.exchanges, exchange{op, request, answer})
	return resp, nil
}

// same checks that two sides sent the same requests: as many of each operation, with the same
// expressions, attributes and options, and equally long values.
func same(library, bare []exchange) error {
	ours, err := shapes(library)
	if err != nil {
		return err
	}
	theirs, err := shapes(bare)
	if err != nil {
		return err
	}
	if !slices.Equal(ours, theirs) {
		return fmt.Errorf("the two sides sent different requests, %d and %d\nlibrary: %.3000s\nbare:    %.3000s",
			len(ours), len(theirs), strings.Join(ours, "\n         "), strings.Join(theirs, "\n         "))
	}
	return nil
}

// shapes returns the requests with the lengths of their values in place of these. It sorts them,
// because parallel requests come in any order.
func shapes(exchanges []exchange) ([]string, error) {
	var list []string
	for _, e := range exchanges {
		var body map[string]any
		if err := json.Unmarshal(e.request, &body); err != nil {
			return nil, fmt.Errorf("parse a request: %w", err)
		}
		text, err := json.Marshal(shape("", body))
		if err != nil {
			return nil, err
		}
		list = append(list, e.op+" "+string(text))
	}
	slices.Sort(list)
	return list, nil
}

func shape(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = shape(name, value)
		}
	case []any:
		for i, value := range v {
			v[i] = shape("", value)
		}
	case string:
		if name == "S" || name == "N" || name == "ClientRequestToken" {
			return len(v)
		}
	}
	return value
}
