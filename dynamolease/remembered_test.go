package dynamolease_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// A memoryTable is a table in memory for one process: it holds every condition for true. It is fast, and that is all.
type memoryTable struct {
	dynamolease.Client
	mu   sync.Mutex // a session releases its leases many at a time
	rows map[string]attributes
	lose bool // the answer to the next transaction
}

func (m *memoryTable) row(key string) attributes {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.rows[key]
}

func keyOf(key attributes) string { return textOf(key["pk"]) + "\n" + textOf(key["sk"]) }

func (m *memoryTable) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{Item: m.row(keyOf(in.Key))}, nil
}

func (m *memoryTable) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out := &dynamodb.QueryOutput{}
	pk, first := textOf(in.ExpressionAttributeValues[":pk"]), textOf(in.ExpressionAttributeValues[":first"])
	if row := m.row(pk + "\n" + first); row != nil {
		out.Items = append(out.Items, row)
	}
	return out, nil
}

func (m *memoryTable) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{Attributes: m.update(in.Key, *in.UpdateExpression, in.ExpressionAttributeValues)}, nil
}

func (m *memoryTable) TransactWriteItems(_ context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	for _, action := range in.TransactItems {
		if u := action.Update; u != nil {
			m.update(u.Key, *u.UpdateExpression, u.ExpressionAttributeValues)
		}
	}
	if m.lose {
		return nil, errors.New("the connection broke")
	}
	return &dynamodb.TransactWriteItemsOutput{}, nil
}

// update sets and removes what the library's own expressions do.
func (m *memoryTable) update(key attributes, expression string, values attributes) attributes {
	m.mu.Lock()
	defer m.mu.Unlock()
	row := maps.Clone(m.rows[keyOf(key)])
	if row == nil {
		row = maps.Clone(key)
	}
	for name, value := range values {
		if name = name[1:]; !strings.HasPrefix(name, "seen_") {
			row[name] = value
		}
	}
	if _, removed, ok := strings.Cut(expression, "REMOVE "); ok {
		for name := range strings.SplitSeq(removed, ", ") {
			delete(row, name[1:])
		}
	}
	m.rows[keyOf(key)] = row
	return row
}

// weigh counts the elements of all maps, slices and channels that a value leads to.
func weigh(v reflect.Value, seen map[uintptr]bool) (elements int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] || strings.Contains(v.Type().String(), "memoryTable") || strings.Contains(v.Type().String(), "slog.") {
			return 0
		}
		seen[v.Pointer()] = true
		return weigh(v.Elem(), seen)
	case reflect.Interface:
		return weigh(v.Elem(), seen)
	case reflect.Struct:
		for i := range v.NumField() {
			elements += weigh(v.Field(i), seen)
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			elements += 1 + weigh(entries.Value(), seen)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return 0
		}
		for i := range v.Len() {
			elements += 1 + weigh(v.Index(i), seen)
		}
	}
	return elements
}

func remembered(values ...any) (elements int) {
	for _, value := range values {
		elements += weigh(reflect.ValueOf(value), make(map[uintptr]bool))
	}
	return elements
}

// remembers counts what the store and the session remember.
func (p *passage) remembers() (elements int) {
	defer p.HoldWorks()()
	return remembered(p.Store, p.session)
}

// partitionsOnce is how many partitions a store comes by, one after the other.
func partitionsOnce() int { return testkit.Size(2_000, 6_000) }

// passages are what can be done with a partition that a store comes by.
var passages = map[string]func(p *passage, partition int) error{
	"released": func(p *passage, partition int) error {
		lease, err := p.acquire(partition)
		return errors.Join(err, p.Checkpoint(p.ctx, lease, []byte("5")), p.renew(partition), p.release(partition))
	},
	"expired": func(p *passage, partition int) error {
		_, err := p.acquire(partition)
		return err
	},
	"held by another": func(p *passage, partition int) error {
		p.table.rows[fmt.Sprintf("L#g\nP#%010d", partition)] = with(with(with(with(with(key("L#g", fmt.Sprintf("P#%010d", partition)),
			"owner", text("z")), "rev", text("r")), "epoch", number("5")), "exp", number("99999999999999")), "lasts", number("60000"))
		_, _, err := p.Store.Acquire(p.ctx, "g", partition, "a", time.Minute)
		return errors.Join(err, p.renew(partition), p.release(partition))
	},
	"with work that was never answered": func(p *passage, partition int) error {
		lease, err := p.acquire(partition)
		ctx, cancel := context.WithTimeout(p.ctx, time.Millisecond)
		defer cancel()
		p.table.lose = true
		_ = p.Transact(ctx, lease, []byte("5"), types.TransactWriteItem{Put: &types.Put{}})
		p.table.lose = false
		return errors.Join(err, p.release(partition))
	},
	"all or none": func(p *passage, partition int) error {
		_, _, err := p.AcquireAll(p.ctx, "g", []int{partition}, "a", time.Minute)
		return errors.Join(err, p.release(partition))
	},
	"read": func(p *passage, partition int) error {
		_, err := p.Lease(p.ctx, "g", partition)
		return errors.Join(err, p.Forget(p.ctx, "g", partition))
	},
	"revoked": func(p *passage, partition int) error {
		lease, err := p.acquire(partition)
		_, _, revokeErr := p.Revoke(p.ctx, "g", partition, lease.Epoch)
		return errors.Join(err, revokeErr)
	},
	"in a session, released": func(p *passage, partition int) error {
		lease, _, err := p.session.Acquire(p.ctx, "g", partition)
		err = errors.Join(err, p.Checkpoint(p.ctx, lease, []byte("5")))
		_, releaseErr := p.session.Release(p.ctx, "g", partition)
		return errors.Join(err, releaseErr)
	},
	"in a session, released with others": func(p *passage, partition int) error {
		_, _, err := p.session.Acquire(p.ctx, "g", partition)
		if partition%100 == 99 {
			err = errors.Join(err, p.session.ReleaseAll(p.ctx))
		}
		return err
	},
	"in a session, revoked": func(p *passage, partition int) error {
		lease, _, err := p.session.Acquire(p.ctx, "g", partition)
		_, _, revokeErr := p.Revoke(p.ctx, "g", partition, lease.Epoch)
		_, beatErr := p.session.Heartbeat(p.ctx)
		_, releaseErr := p.session.Release(p.ctx, "g", partition)
		return errors.Join(err, revokeErr, beatErr, releaseErr)
	},
	"in sessions that end": func(p *passage, partition int) error {
		if partition%100 == 0 {
			time.Sleep(2 * time.Minute) // it is lost, and what it held
			if err := p.open(); err != nil {
				return err
			}
		}
		_, _, err := p.session.Acquire(p.ctx, "g", partition)
		return err
	},
}

// A passage is a store that comes by many partitions.
type passage struct {
	*dynamolease.Store
	ctx     context.Context
	table   *memoryTable
	session *dynamolease.Session
}

func (p *passage) open() (err error) {
	p.session, err = p.OpenSession(p.ctx, dynamolease.Node{Service: "s", Name: "a", Address: "a:1"}, time.Minute)
	return err
}

func (p *passage) acquire(partition int) (dynamolease.Lease, error) {
	lease, acquired, err := p.Acquire(p.ctx, "g", partition, "a", time.Minute)
	if err == nil && !acquired {
		err = fmt.Errorf("not acquired: %+v", lease)
	}
	return lease, err
}

func (p *passage) renew(partition int) error {
	_, err := p.Renew(p.ctx, "g", []int{partition}, "a", time.Minute)
	return err
}

func (p *passage) release(partition int) error {
	_, err := p.Release(p.ctx, "g", partition, "a")
	return err
}

// LS56: what a store and a session remember does not grow with the partitions that they once had.
func TestRememberedLS56(t *testing.T) {
	for name, pass := range passages {
		t.Run("LS56/"+name, func(t *testing.T) {
			var p *passage
			synctest.Test(t, func(t *testing.T) {
				table := &memoryTable{rows: make(map[string]attributes)}
				store, err := dynamolease.New(table, "leases", func(o *dynamolease.Options) {
					o.Clock = dynamolease.NodeClock(time.Second)
					o.Elapsed = testkit.NewClock().Elapsed
				})
				if err != nil {
					t.Fatal(err)
				}
				p = &passage{Store: store, ctx: t.Context(), table: table}
				if err := p.open(); err != nil {
					t.Fatal(err)
				}
				for partition := range partitionsOnce() {
					if err := pass(p, partition); err != nil {
						t.Fatal(partition, err)
					}
					if partition%200 == 199 {
						time.Sleep(10 * time.Second)
						if _, err := p.session.Heartbeat(p.ctx); err != nil && name != "in sessions that end" {
							t.Fatal(err)
						}
					}
				}
				if err := p.session.Close(p.ctx); err != nil {
					t.Fatal(err)
				}
				store.Close()
			})
			// What is kept only as long as the caller keeps its lease goes with the garbage.
			deadline := time.Now().Add(time.Minute)
			for p.remembers() > 5000 && time.Now().Before(deadline) {
				runtime.GC()
				time.Sleep(10 * time.Millisecond)
			}
			if n := p.remembers(); n > 5000 {
				t.Errorf("after %d partitions it remembers %d things", partitionsOnce(), n)
			}
		})
	}
}
