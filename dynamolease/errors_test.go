package dynamolease_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dynamolease/dynamolease/dynamolease"
)

func TestRowErrors(t *testing.T) {
	a, b, c := &dynamolease.RowError{SK: "a"}, &dynamolease.RowError{SK: "b"}, &dynamolease.RowError{SK: "c"}
	other := errors.New("the store is away")
	for name, test := range map[string]struct {
		err  error
		rows []*dynamolease.RowError
		only bool
	}{
		"no error":              {nil, nil, true},
		"a row":                 {a, []*dynamolease.RowError{a}, true},
		"a row in words":        {fmt.Errorf("read: %w", fmt.Errorf("owners: %w", a)), []*dynamolease.RowError{a}, true},
		"rows":                  {errors.Join(a, nil, b), []*dynamolease.RowError{a, b}, true},
		"rows in rows":          {errors.Join(fmt.Errorf("first: %w", errors.Join(c, a)), b), []*dynamolease.RowError{c, a, b}, true},
		"the same row twice":    {errors.Join(a, a), []*dynamolease.RowError{a, a}, true},
		"rows in one sentence":  {fmt.Errorf("%w and %w", b, a), []*dynamolease.RowError{b, a}, true},
		"another error":         {other, nil, false},
		"another, in words":     {fmt.Errorf("read: %w", other), nil, false},
		"rows and another":      {errors.Join(a, other, b), []*dynamolease.RowError{a, b}, false},
		"another deep in rows":  {errors.Join(a, fmt.Errorf("read: %w", errors.Join(b, other))), []*dynamolease.RowError{a, b}, false},
		"a setup without cause": {&dynamolease.SetupError{}, nil, false},
		"a row behind a setup":  {&dynamolease.SetupError{Err: a}, []*dynamolease.RowError{a}, true},
	} {
		t.Run(name, func(t *testing.T) {
			rows, only := dynamolease.RowErrors(test.err)
			if !slices.Equal(rows, test.rows) || only != test.only {
				t.Errorf("rows %v, alone %v; want %v, %v", rows, only, test.rows, test.only)
			}
		})
	}
}

func TestRowErrorPartition(t *testing.T) {
	for _, test := range []struct {
		pk, sk    string
		group     string
		partition int
		ok        bool
	}{
		{"L#orders", "P#0000000007", "orders", 7, true},
		{"L#orders", "P#9999999999", "orders", 9_999_999_999, true},
		{"L#a#b", "P#0000000000", "a#b", 0, true},
		{"L#orders", "P#7", "", 0, false},
		{"L#orders", "P#-000000007", "", 0, false},
		{"L#orders", "P#+000000007", "", 0, false},
		{"L#orders", "P#00000000007", "", 0, false},
		{"L#orders", "P#000000000x", "", 0, false},
		{"L#orders", "N#0000000007", "", 0, false},
		{"L#", "P#0000000007", "", 0, false},
		{"M#shop", "N#a", "", 0, false},
		{"P#node", "HEAD", "", 0, false},
		{"", "", "", 0, false},
	} {
		group, partition, ok := (&dynamolease.RowError{PK: test.pk, SK: test.sk}).Partition()
		if group != test.group || partition != test.partition || ok != test.ok {
			t.Errorf("%s / %s: %q, %d, %v", test.pk, test.sk, group, partition, ok)
		}
	}
}

func TestLeaseNode(t *testing.T) {
	for owner, node := range map[string]string{"a": "a", "a#1b2c": "a", "a#1#2": "a", "": "", "#1": ""} {
		if got := (dynamolease.Lease{Owner: owner}).Node(); got != node {
			t.Errorf("the node of %q is %q, want %q", owner, got, node)
		}
	}
}
