package applied_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
)

const positionRow = "R#reaper POSITION"

// runReaper lets the reaper's real program reap a table with dead and live rows, with the
// template's environment and under a policy, until it reports that it is done. It returns the first
// fault: a request that was refused, a row that is wrongly gone or wrongly there, a lease that is
// wrongly free or held, or a permission that nothing needed.
func runReaper(t *testing.T, h *hospital, policy iamproxy.Policy) error {
	t.Helper()
	before := h.admit(t)
	guard := iamproxy.NewGuard(policy, "pk")
	reports, err := h.reap(t, guard)
	if err := errors.Join(guard.Refused(), err); err != nil {
		return err
	}
	if len(reports) < 2 || reports[0].Stopped != "limit" || !reports[1].Resumed {
		return fmt.Errorf("no run stopped early and was continued: %+v", reports)
	}
	after := h.rows(t)
	delete(after, positionRow)
	for key, row := range before {
		ttl := ttlOf(row)
		dead := ttl > 0 && ttl < time.Now().Unix()
		if after[key] == nil != dead {
			return fmt.Errorf("the row %s is there: %v, dead: %v", key, after[key] != nil, dead)
		}
		if freed := text(row["owner"]) == "closed"; after[key] != nil && (text(after[key]["owner"]) == "") != (freed || text(row["owner"]) == "") {
			return fmt.Errorf("the row %s was %v and is %v", key, row, after[key])
		}
	}
	return unneeded(guard)
}

// reap invokes the reaper until it is done.
func (h *hospital) reap(t *testing.T, guard *iamproxy.Guard) (reports []runs, err error) {
	t.Helper()
	process := h.start(t, guard, nil)
	defer process.Stop()
	for len(reports) < 10 {
		report, err := invoke(t.Context(), process)
		if err != nil {
			return reports, err
		}
		reports = append(reports, report)
		if report.Complete || guard.Refused() != nil {
			return reports, nil
		}
	}
	return reports, fmt.Errorf("it does not finish: %+v", reports)
}

func TestReaper(t *testing.T) {
	h := newHospital(t)
	if err := runReaper(t, h, h.policy(t, reaper)); err != nil {
		t.Error(err)
	}
}

// The table's TTL is on the attribute that the library writes and that the reaper reads.
func TestTTL(t *testing.T) {
	w := apply(t)
	out, err := w.server.Client().DescribeTimeToLive(t.Context(), &dynamodb.DescribeTimeToLiveInput{TableName: &w.table})
	if err != nil {
		t.Fatal(err)
	}
	if d := out.TimeToLiveDescription; d.TimeToLiveStatus != types.TimeToLiveStatusEnabled || *d.AttributeName != "ttl" {
		t.Errorf("it is %s on %s", d.TimeToLiveStatus, *d.AttributeName)
	}
	store, err := w.realStore()
	if err != nil {
		t.Fatal(err)
	}
	if err := store.CheckTable(t.Context()); err != nil {
		t.Error(err)
	}
	if _, _, err := store.Acquire(t.Context(), "orders", 0, "a", time.Minute); err != nil {
		t.Fatal(err)
	}
	if rows := w.rows(t); ttlOf(rows["L#orders P#0000000000"]) <= time.Now().Unix() {
		t.Errorf("the row of a lease has no ttl in the future: %v", rows)
	}
}

// Every action must be there, and no other action may be there.
func TestReaperPolicyIsExact(t *testing.T) {
	h := newHospital(t)
	policy := h.policy(t, reaper)
	for name, m := range mutations(policy) {
		t.Run(name, func(t *testing.T) { m.expect(t, runReaper(t, h, m.change(policy))) })
	}
}
