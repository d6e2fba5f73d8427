package coordinator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/dynamolease/dynamolease/dynamolease/coordinator"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	"github.com/dynamolease/dynamolease/internal/testkit"
)

// setSession sets attributes of a session's row past all stores, and gives it another rev.
func (w *world) setSession(id string, set map[string]int64) {
	w.Helper()
	update, values := "SET rev = :rev", map[string]types.AttributeValue{":rev": &types.AttributeValueMemberS{Value: fmt.Sprint("by hand ", time.Now())}}
	names := make(map[string]string)
	for name, value := range set {
		update += fmt.Sprintf(", #%s = :%s", name, name)
		names["#"+name], values[":"+name] = name, &types.AttributeValueMemberN{Value: fmt.Sprint(value)}
	}
	_, err := w.direct().UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: &w.table, UpdateExpression: &update, ExpressionAttributeValues: values, ExpressionAttributeNames: names,
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "M#" + w.service}, "sk": &types.AttributeValueMemberS{Value: "N#" + id},
		},
	})
	if err != nil {
		w.Fatal(err)
	}
}

// isMember reports whether the table lists a node among the members.
func (w *world) isMember(n *node) bool {
	w.Helper()
	members, err := w.look().Members(context.Background(), w.service)
	if err != nil {
		w.Fatal(err)
	}
	for _, m := range members {
		if m.Node == n.name {
			return true
		}
	}
	return false
}

// CO17: a node that lives and was taken off the members, by whatever means, is one again within two rounds, says so as long as it is
// not, and goes on with its work meanwhile.
func TestMemberAgainCO17(t *testing.T) {
	t.Parallel()
	ways := map[string]func(w *world, a *node){
		"CO17 left by an operator": func(w *world, a *node) {
			if err := w.look().Leave(w.Context(), w.service, a.name); err != nil {
				w.Fatal(err)
			}
		},
		"CO17 left by hand": func(w *world, a *node) {
			w.setSession(a.State().Session, map[string]int64{"left": time.Now().UnixMilli()})
		},
		"CO17 left by the process before it": func(w *world, a *node) { // which stops under the same name
			s := w.look()
			if err := s.Leave(w.Context(), w.service, a.name); err != nil {
				w.Fatal(err)
			}
			s.Close()
		},
		"CO17 marked as over": func(w *world, a *node) { // it needs another session
			w.lenient = true
			w.setSession(a.State().Session, map[string]int64{"left": time.Now().UnixMilli(), "exp": 1})
		},
		"CO17 row deleted": func(w *world, a *node) {
			w.lenient = true
			w.deleteSession(a.State().Session)
		},
	}
	faults := map[string]dynamotest.Fault{
		"no fault": nil, "request lost": dynamotest.LoseRequest(), "answer lost": dynamotest.LoseResponse(), "twice": dynamotest.Twice(),
		"throttled": dynamotest.Throttle(), "hangs after": dynamotest.HangAfter(),
	}
	for name, way := range ways {
		for fault, apply := range faults {
			t.Run(name+", heartbeat "+fault, func(t *testing.T) {
				if fault != "no fault" {
					testkit.Sample(t)
				}
				inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
					nodes := []*node{w.start("a", 4, inMode(mode))}
					if strings.Contains(name, "left") {
						nodes = append(nodes, w.start("b", 4, inMode(mode)))
					} // where a person has spoiled the row of a session that lives, another node could have its leases at once
					w.settle(4, nodes...)
					a := nodes[0]
					moves := w.moves()
					way(w, a)
					if w.isMember(a) {
						w.Fatal("it is a member still")
					}
					if apply != nil {
						a.path.Next("UpdateItem", apply)
					}
					w.within(2*round+grace, "a member again", func() bool { time.Sleep(interval / 10); return w.isMember(a) })
					w.within(2*round+grace, "in balance", func() bool { return w.balanced(4, nodes...) && a.Health() == nil })
					time.Sleep(round) // a heartbeat that hung may have delayed the next one
					w.keeps(5*round, "a member, and well", func() bool { return w.isMember(a) && a.Health() == nil })
					if strings.Contains(name, "left") && w.moves() != moves {
						w.Errorf("%d moves", w.moves()-moves)
					}
				})
			})
		}
	}
}

// CO17: as long as its heartbeats do not get through, the node says that it is not among the members.
func TestNoMemberCO17(t *testing.T) {
	inBothModes(t, func(w *world, mode coordinator.LeaseMode) {
		long := func(c *coordinator.Config) { c.TTL = 10 * ttl } // nothing else is wrong with it meanwhile
		a := w.start("a", 4, inMode(mode), long)
		w.settle(4, a)
		heal := a.path.Every("UpdateItem", onRow("M#", dynamotest.LoseRequest()))
		if err := w.look().Leave(w.Context(), w.service, "a"); err != nil {
			w.Fatal(err)
		}
		says := func() bool {
			err := a.Health()
			return err != nil && strings.Contains(err.Error(), "not among the members")
		}
		w.within(2*round, "told", says)
		w.keeps(ttl, "told, and at work", func() bool { return says() && w.busy() == 4 })
		heal()
		w.within(2*round, "well", func() bool { return a.Health() == nil && w.isMember(a) })
	})
}
