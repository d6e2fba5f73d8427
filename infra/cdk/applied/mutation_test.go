package applied_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
)

// A mutation is a change to a policy that a test must notice.
type mutation struct {
	change func(iamproxy.Policy) iamproxy.Policy
	says   string // a part of the error that it causes
}

func (m mutation) expect(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Error("nothing went wrong")
	} else if !strings.Contains(err.Error(), m.says) {
		t.Errorf("%v; want %q", err, m.says)
	}
}

// operations are the operations that a policy can allow for rows.
var operations = []string{
	"GetItem", "Query", "Scan", "UpdateItem", "PutItem", "DeleteItem", "ConditionCheckItem", "BatchGetItem", "BatchWriteItem",
}

// mutations removes each action and each leading key from a policy, one at a time, and adds each
// other one to each of its statements.
func mutations(policy iamproxy.Policy) map[string]mutation {
	list := make(map[string]mutation)
	for i, s := range policy {
		add := func(what string, change func(iamproxy.Policy) iamproxy.Policy, says string) {
			list[fmt.Sprintf("%d %s", i, what)] = mutation{change, says}
		}
		for _, action := range s.Actions {
			add("without "+action, func(p iamproxy.Policy) iamproxy.Policy { return p.Without(i, action) }, "not allowed: "+action)
		}
		for _, operation := range operations {
			if action := "dynamodb:" + operation; !slices.Contains(s.Actions, action) {
				add("with "+action, func(p iamproxy.Policy) iamproxy.Policy { return p.With(i, action) }, fmt.Sprintf("statement %d: %s", i, action))
			}
		}
		if s.Keys == nil {
			continue
		}
		for _, key := range s.Keys.Patterns {
			add("without "+key, func(p iamproxy.Policy) iamproxy.Policy { return p.WithoutKey(i, key) }, "not allowed: ")
		}
		for _, key := range []string{"X#other", s.Keys.Patterns[0] + "more"} {
			add("with "+key, func(p iamproxy.Policy) iamproxy.Policy { return p.WithKey(i, key) }, "the leading key "+key)
		}
	}
	return list
}
