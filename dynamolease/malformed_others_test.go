package dynamolease_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// LS30: operations that read more rows than they are about go by those that they are about.
func TestMalformedRowLS30OfNoConcern(t *testing.T) {
	for name, test := range map[string]func(w *world, n *node){
		"acquire all around one": func(w *world, n *node) {
			w.spoilLease(2)
			leases, acquired, err := n.AcquireAll(w.Context(), w.group, []int{1, 3}, "a", ttl)
			if err != nil || !acquired {
				w.Errorf("acquired %v, %v", acquired, err)
			}
			w.wantPartitions(leases, "1 3")
		},
		"acquire all of one": func(w *world, n *node) {
			w.spoilLease(2)
			_, acquired, err := n.AcquireAll(w.Context(), w.group, []int{1, 2, 3}, "a", ttl)
			if acquired {
				w.Error("acquired")
			}
			wantRowError(w, "acquire all", 2, err)
		},
		"open a session of a node with one": func(w *world, n *node) {
			w.spoilMember("N#a#former")
			n.open("a", ttl)
			if members, err := n.Members(w.Context(), w.service); len(members) != 1 || !isRow(err) {
				w.Errorf("members %+v, %v", members, err)
			}
		},
		"open a session beside one": func(w *world, n *node) {
			w.spoilMember("N#a!")
			n.open("a", ttl)
		},
		"leave of a node with one": func(w *world, n *node) {
			n.open("a", ttl)
			n.heartbeat("a", "a:1")
			w.spoilMember("N#a#former")
			if err := n.Leave(w.Context(), w.service, "a"); !isRow(err) {
				w.Errorf("leave: %v", err)
			}
			if members, _ := n.Members(w.Context(), w.service); len(members) != 0 {
				w.Errorf("members %+v", members)
			}
		},
		"leave beside one": func(w *world, n *node) {
			n.heartbeat("a", "a:1")
			w.spoilMember("N#a!")
			n.leave("a")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, func(w *world) { test(w, w.node()) })
		})
	}
}

// An error names a hundred rows, and says how many more there are; all of them can be found in it.
func TestMalformedRowsLS30AreAllInTheError(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		const many = 130
		for partition := range many {
			w.spoilLease(partition)
		}
		_, err := w.node().Owners(w.Context(), w.group)
		if err == nil || strings.Count(err.Error(), "malformed row") != 100 || !strings.Contains(err.Error(), fmt.Sprint(many-100)) {
			w.Errorf("the error is %v", err)
		}
		if n := len(rowsIn(err)); n != many {
			w.Errorf("%d rows in the error, want %d", n, many)
		}
	})
}

func rowsIn(err error) (rows []*dynamolease.RowError) {
	switch e := err.(type) {
	case *dynamolease.RowError:
		return []*dynamolease.RowError{e}
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			rows = append(rows, rowsIn(part)...)
		}
	case interface{ Unwrap() error }:
		return rowsIn(e.Unwrap())
	}
	return rows
}

func isRow(err error) bool {
	var row *dynamolease.RowError
	return errors.As(err, &row)
}

func (w *world) spoilLease(partition int) {
	row := w.leaseKey(partition)
	row["owner"], row["epoch"], row["rev"] = text("a"), text("five"), text("r")
	w.Put(row)
}

func (w *world) spoilMember(sk string) {
	row := key("M#"+w.service, sk)
	row["node"], row["rev"] = number("7"), text("r")
	w.Put(row)
}
