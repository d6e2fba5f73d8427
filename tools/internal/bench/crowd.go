package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const (
	crowdName = "Contention"
	crowdTest = "TestCrowd"
	crowdFlag = "crowd"
)

// contention is how requests hinder each other: transactions that take 40 ms, which is long, and
// DynamoDB's own limits of a partition key.
var contention = dynamotest.Contention{Hold: 40 * time.Millisecond, ReadUnits: 3000, WriteUnits: 1000}

// A crowd is many requests that hinder each other at one table: when a node with many leases
// crashes, and while leases are renewed and checkpointed at the same time.
type crowd struct {
	drill      // of the crash, with all partitions on the node that crashes
	takers int // nodes that take over
	kept   int // leases with an expiry of their own
	span   time.Duration
}

var largeCrowd = crowd{
	drill: drill{partitions: 1000, moves: 1, ttl: fleetTTL, latency: distance}, takers: 9, kept: 100, span: time.Minute,
}

// A crowdReport is what came of it.
type crowdReport struct {
	Crash   crashRow    `json:"crash"`
	Keepers []keeperRow `json:"keepers"`
}

// A crowdUsage is what the requests came to at the table.
type crowdUsage struct {
	usage
	Conflicts int `json:"conflicts"`
	Throttled int `json:"throttled"`
}

func crowdUsageOf(u dynamotest.Usage) crowdUsage {
	return crowdUsage{usage{float64(u.Requests), u.ReadUnits, u.WriteUnits}, u.Conflicts, u.Throttled}
}

func crowded(ctx context.Context) (*crowdReport, error) {
	report := new(crowdReport)
	return report, inBubble(ctx, crowdTest, crowdFlag, report)
}

// measure measures all of a crowd.
func (l *lab) measure(ctx context.Context, c crowd) (*crowdReport, error) {
	report := new(crowdReport)
	var err error
	if report.Crash, err = l.crash(ctx, c); err != nil {
		return nil, fmt.Errorf("crash: %w", err)
	}
	for _, how := range []dynamolease.Renewal{dynamolease.Transactions, dynamolease.EachItem} {
		row, err := l.keep(ctx, c, how)
		if err != nil {
			return nil, fmt.Errorf("keep leases, %s: %w", row.Way, err)
		}
		report.Keepers = append(report.Keepers, row)
	}
	return report, nil
}

// freshTable returns a table for one measurement alone.
func (l *lab) freshTable() (string, error) {
	table := l.server.Table(l)
	return table, l.err
}
