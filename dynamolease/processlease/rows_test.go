package processlease_test

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/processlease"
)

// spoilt are the things that can be wrong with a head; nil removes the attribute.
func spoiltHeads() map[string]row {
	long := strings.Repeat("x", 1024)
	return map[string]row{
		"owner missing":       {"owner": nil},
		"owner is no UUID":    {"owner": text("somebody")},
		"owner is nil":        {"owner": text(uuid.Nil.String())},
		"owner not canonical": {"owner": text(strings.ToUpper(uuid.NewString()))},
		"owner is a number":   {"owner": number("1")},
		"term missing":        {"term": nil},
		"term is text":        {"term": text("1")},
		"term is zero":        {"term": number("0")},
		"term is negative":    {"term": number("-1")},
		"term is a fraction":  {"term": number("1.5")},
		"term is too large":   {"term": number("18446744073709551616")},
		"seq missing":         {"seq": nil},
		"seq is zero":         {"seq": number("0")},
		"exp missing":         {"exp": nil},
		"exp is too large":    {"exp": number("9223372036854775808")},
		"lasts missing":       {"lasts": nil},
		"lasts for ever":      {"lasts": number("9223372036854775807")},
		"rev missing":         {"rev": nil},
		"rev is empty":        {"rev": text("")},
		"resigned is false":   {"resigned": &types.AttributeValueMemberBOOL{}},
		"resigned is text":    {"resigned": text("true")},
		"node missing":        {"node": nil},
		"of another node":     {"node": text("another")},
		"with a ttl":          {"ttl": number("1")},
		"oversized":           {"note": text(long)},
		"oversized set":       {"notes": &types.AttributeValueMemberSS{Value: []string{long}}},
		"oversized list": {"notes": &types.AttributeValueMemberL{Value: []types.AttributeValue{
			&types.AttributeValueMemberM{Value: row{"b": &types.AttributeValueMemberB{Value: []byte(long)}}},
		}}},
	}
}

func TestMalformed(t *testing.T) {
	for name, spoil := range spoiltHeads() {
		subtest(t, "PL12/head/"+name, func(w *world) {
			a, b := w.boot(), w.boot()
			a.acquire()
			o := b.watched()
			for attribute, value := range spoil {
				w.meddle("HEAD", attribute, value)
			}
			before := w.row("HEAD")
			for path, call := range map[string]func() error{
				"load":    func() error { _, _, err := b.store.Load(w.Context()); return err },
				"acquire": func() error { _, err := b.store.TryAcquire(w.Context(), b.owner); return err },
				"observe": func() error { _, err := b.store.ObserveRival(w.Context(), b.owner); return err },
				"current": func() error { _, err := b.authority.VerifyCurrentParticipant(w.Context(), a.participant()); return err },
				"fence":   func() error { _, err := b.fence(a); return err },
				// These do not read, but meet the row when their condition fails.
				"take over": func() error { _, err := b.store.TryTakeover(w.Context(), o); return err },
				"renew":     func() error { _, err := a.store.TryAcquire(w.Context(), a.owner); return err },
			} {
				// A condition cannot see an attribute that it does not name.
				if foreign := strings.HasPrefix(name, "oversized"); foreign && (path == "renew" || path == "take over") {
					continue
				}
				err := call()
				if malformed := new(dynamolease.RowError); !errors.Is(err, processlease.ErrInvalid) || !errors.As(err, &malformed) {
					w.Errorf("%s: %v", path, err)
				}
			}
			if after := w.row("HEAD"); !reflect.DeepEqual(after, before) {
				w.Errorf("written over: %v", after)
			}
		})
	}
	for name, spoil := range map[string]func(f row){
		"empty":             func(f row) { delete(f, "predecessor"); delete(f, "successor"); delete(f, "node") },
		"no predecessor":    func(f row) { delete(f, "predecessor") },
		"successor is text": func(f row) { f["successor"] = text("b") },
		"owner malformed":   func(f row) { record(f, "successor")["owner"] = text("b") },
		"term malformed":    func(f row) { record(f, "predecessor")["term"] = text("1") },
		"not adjacent":      func(f row) { record(f, "successor")["seq"] = number("9") },
		"of another node":   func(f row) { f["node"] = text("another") },
		"node missing":      func(f row) { delete(f, "node") },
		"of another term": func(f row) {
			record(f, "predecessor")["term"] = number("2")
			record(f, "successor")["term"] = number("3")
			record(f, "predecessor")["owner"] = text(uuid.NewString())
		},
		"an unknown attribute": func(f row) { f["note"] = text("x") },
		"oversized":            func(f row) { f["note"] = text(strings.Repeat("x", 2048)) },
	} {
		subtest(t, "PL12/fence/"+name, func(w *world) {
			a, b := w.boot(), w.boot()
			a.acquire()
			f := b.fenced(a)
			for _, sk := range []string{"F#" + a.owner.String(), "T#00000000000000000002"} {
				r := w.row(sk)
				spoil(r)
				w.Put(r)
			}
			phantom := processlease.Participant{Node: w.node, Owner: f.Successor.Owner}
			for path, call := range map[string]func() error{
				"verify":  func() error { _, err := b.authority.VerifyFence(w.Context(), f); return err },
				"current": func() error { _, err := b.authority.VerifyCurrentParticipant(w.Context(), phantom); return err },
				"fence":   func() error { _, err := b.fence(a); return err },
			} {
				if err := call(); !errors.Is(err, processlease.ErrInvalid) || errors.Is(err, processlease.ErrMissing) {
					w.Errorf("%s: %v", path, err)
				}
			}
		})
	}
}

func record(f row, name string) row { return f[name].(*types.AttributeValueMemberM).Value }

func TestLimits(t *testing.T) {
	largest := strconv.FormatUint(math.MaxUint64, 10)
	for _, field := range []string{"term", "seq"} {
		subtest(t, "PL13/"+field, func(w *world) {
			a, b := w.boot(), w.boot()
			a.acquire()
			w.meddle("HEAD", field, number(largest))
			o := b.watched()
			before, writes := b.load(), b.writes()
			if _, err := b.store.TryTakeover(w.Context(), o); !errors.Is(err, processlease.ErrInvalid) {
				w.Errorf("taken over: %v", err)
			}
			if _, err := b.fence(a); !errors.Is(err, processlease.ErrInvalid) {
				w.Errorf("fenced: %v", err)
			}
			if b.writes() != writes || b.load() != before {
				w.Errorf("written: %v", b.load())
			}
			fresh := w.boot()
			fresh.owner = a.owner
			_, err := fresh.store.TryAcquire(w.Context(), a.owner)
			if field == "seq" && (!errors.Is(err, processlease.ErrInvalid) || fresh.writes() != 0) {
				w.Errorf("renewed: %v after %d writes", err, fresh.writes())
			}
			if field == "term" && err != nil {
				w.Errorf("the last term cannot be renewed: %v", err)
			}
		})
	}
	subtest(t, "PL13/arguments", func(w *world) {
		b := w.boot()
		client := b.Path.Client()
		authority := func(client processlease.Client, table string, ttl time.Duration, opt func(*processlease.Options)) error {
			_, err := processlease.NewAuthority(client, table, ttl, func(o *processlease.Options) { o.Elapsed = b.Elapsed }, opt)
			return err
		}
		fine := func(*processlease.Options) {}
		storeFor := func(node string) error { _, err := b.authority.Identity(node); return err }
		tryAcquire := func(owner uuid.UUID) error { _, err := b.store.TryAcquire(w.Context(), owner); return err }
		observe := func(owner uuid.UUID) error { _, err := b.store.ObserveRival(w.Context(), owner); return err }
		takeover := func(o processlease.Observation) error { _, err := b.store.TryTakeover(w.Context(), o); return err }
		current := func(p processlease.Participant, term uint64) error {
			_, err := b.authority.VerifyCurrentParticipantTerm(w.Context(), p, term)
			return err
		}
		fence := func(p processlease.Participant) error {
			_, err := b.authority.FenceIncarnation(w.Context(), p)
			return err
		}
		for name, err := range map[string]error{
			"client":                 authority(nil, w.Table, ttl, fine),
			"client ":                authority((*dynamodb.Client)(nil), w.Table, ttl, fine),
			"table":                  authority(client, "", ttl, fine),
			"ttl":                    authority(client, w.Table, 0, fine),
			"ttl ":                   authority(client, w.Table, -time.Second, fine),
			"ttl  ":                  authority(client, w.Table, time.Second+1, fine),
			"ttl   ":                 authority(client, w.Table, 366*24*time.Hour, fine),
			"Options.RequestTimeout": authority(client, w.Table, ttl, func(o *processlease.Options) { o.RequestTimeout = -1 }),
			"Options.FenceRetention ": authority(client, w.Table, ttl, func(o *processlease.Options) {
				o.FenceRetention = 10*365*24*time.Hour + 1
			}),
			"Options.FenceRetention": authority(client, w.Table, ttl, func(o *processlease.Options) { o.FenceRetention = time.Minute }),
			"node":                   storeFor(""),
			"node ":                  storeFor(strings.Repeat("n", 256)),
			"node  ":                 storeFor("\xff"),
			"node   ":                fence(processlease.Participant{Owner: b.owner}),
			"owner":                  tryAcquire(uuid.Nil),
			"owner ":                 observe(uuid.Nil),
			"owner  ":                fence(processlease.Participant{Node: w.node}),
			"owner   ":               current(processlease.Participant{Node: w.node}, 1),
			"observed":               takeover(processlease.Observation{}),
			"term":                   current(b.participant(), 0),
		} {
			argument := new(dynamolease.ArgumentError)
			if !errors.As(err, &argument) || argument.Argument != strings.TrimSpace(name) {
				w.Errorf("%s: %v", name, err)
			}
		}
		if err := authority(client, w.Table, time.Millisecond, fine); err != nil {
			w.Error(err)
		}
		if n := len(b.Path.Requests()); n != 0 {
			w.Errorf("%d requests", n)
		}
	})
	subtest(t, "foreign observation", func(w *world) {
		a, b, c := w.boot(), w.boot(), w.boot()
		a.acquire()
		o := b.watched()
		_, err := c.store.TryTakeover(w.Context(), o)
		if argument := new(dynamolease.ArgumentError); !errors.As(err, &argument) {
			w.Errorf("another process's observation: %v", err)
		}
	})
	subtest(t, "longest name", func(w *world) {
		w.node = strings.Repeat("é", 127) + "#"
		a, b := w.boot(), w.boot()
		a.acquire()
		if f := b.fenced(a); f.Successor.Term != 2 {
			w.Errorf("%v", f)
		}
	})
}
