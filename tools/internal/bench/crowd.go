package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

const (
	crowdName    = "Contention"
	crowdPackage = "github.com/dynamolease/dynamolease/tools/internal/bench"
	crowdTest    = "TestCrowd"
	crowdFlag    = "crowd"
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

// crowded runs this package's own test, which measures in virtual time: the figures then depend on
// no machine. It needs Go and the source.
func crowded(ctx context.Context) (report *crowdReport, err error) {
	dir, err := os.MkdirTemp("", "crowd")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "crowd.json")
	command := exec.CommandContext(ctx, "go", "test", "-count=1", "-run=^"+crowdTest+"$", crowdPackage, "-"+crowdFlag+"="+file)
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run %s: %w\n%.3000s", command, err, out)
	}
	figures, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	report = new(crowdReport)
	if err := json.Unmarshal(figures, report); err != nil {
		return nil, fmt.Errorf("read the figures: %w", err)
	}
	return report, nil
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
