package applied_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
)

// accesses are what programs with the roles of the stack use the table for.
var accesses = map[string]dynamolease.Access{
	"Holder": {Groups: orders.Groups, Services: orders.Services, Takeovers: orders.Services, Renew: true, Transactions: true, LeaseChecks: true},
	"HolderOfAll": {
		Groups: []string{"a", "b"}, Services: []string{"c"}, Takeovers: []string{"c", "d"}, Nodes: []string{"e"},
		Renew: true, Transactions: true, LeaseChecks: true,
	},
	"OtherHolder":   {Groups: bills.Groups, Services: bills.Services, Takeovers: bills.Services, LeaseChecks: true},
	"StrangeHolder": {Groups: strange.Groups, Services: strange.Services, Takeovers: strange.Services, LeaseChecks: true},
	"Boot":          {Nodes: boot.Nodes},
	reaper:          {Reap: true},
}

// checkAccess checks the access of a role under a policy.
func checkAccess(t *testing.T, w *world, policy iamproxy.Policy, role string) (*iamproxy.Guard, error) {
	t.Helper()
	guard := iamproxy.NewGuard(policy, "pk")
	transport := w.server.Transport()
	defer transport.Close()
	store, err := dynamolease.New(transport.Client(func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: guard.Transport(transport)}
	}), w.table)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	return guard, store.CheckAccess(t.Context(), accesses[role])
}

// LS31: a check of what a role's program does passes under the role's grant, needs all of it, and finds each single action and
// each key that is missing, by requests that change nothing.
func TestCheckAccessLS31(t *testing.T) {
	w := apply(t)
	for role := range accesses {
		policy := w.policy(t, role)
		guard, err := checkAccess(t, w, policy, role)
		if err != nil {
			t.Errorf("%s: %v", role, err)
		}
		for _, unused := range guard.Unused() {
			if !strings.Contains(unused, "dynamodb:Describe") {
				t.Errorf("%s: the check does not need %s", role, unused)
			}
		}
		for name, m := range mutations(policy) {
			action, isAction := strings.CutPrefix(m.says, "not allowed: ")
			if !isAction || strings.Contains(action, "Describe") {
				continue
			}
			_, err := checkAccess(t, w, m.change(w.policy(t, role)), role)
			if text := fmt.Sprint(err); !denied(err) || !strings.Contains(text, "grant "+action) {
				t.Errorf("%s %s: %v", role, name, err)
			}
		}
	}
	if rows := w.rows(t); len(rows) > 0 {
		t.Errorf("rows are there: %v", rows)
	}
}
