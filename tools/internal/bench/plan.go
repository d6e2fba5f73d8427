package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

const (
	planName    = "Plan"
	planPackage = "github.com/dynamolease/dynamolease/dynamolease/coordinator/internal/plan"
	planBench   = "BenchmarkPlanSizes"
)

// A planRow is the time in which a coordinator works out what to give up and what to take.
type planRow struct {
	Case       string  `json:"case"` // "steady", or "join" for a node that has just joined
	Partitions int     `json:"partitions"`
	Micros     float64 `json:"us"`
	Bytes      float64 `json:"bytes"`
	Allocs     float64 `json:"allocs"`
}

// planSizes runs the Go benchmark in the coordinator's package, because the plan is not part of an
// API. It needs Go and the source.
func planSizes(ctx context.Context) ([]planRow, error) {
	command := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=^"+planBench+"$", "-benchtime=200ms", planPackage)
	out, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w\n%s", command, err, bytes.TrimSpace(out))
	}
	return parsePlan(string(out))
}

// parsePlan reads lines such as
//
//	BenchmarkPlanSizes/join/100-2   31415   3821 ns/op   4096 B/op   12 allocs/op
func parsePlan(out string) ([]planRow, error) {
	var rows []planRow
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) < 8 || !strings.HasPrefix(fields[0], planBench+"/") {
			continue
		}
		name, _, _ := strings.Cut(fields[0], "-") // without the number of processors
		parts := strings.Split(name, "/")
		row := planRow{Case: parts[1]}
		var errs [4]error
		row.Partitions, errs[0] = strconv.Atoi(parts[len(parts)-1])
		row.Micros, errs[1] = strconv.ParseFloat(fields[2], 64)
		row.Bytes, errs[2] = strconv.ParseFloat(fields[4], 64)
		row.Allocs, errs[3] = strconv.ParseFloat(fields[6], 64)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("read %q: %w", strings.TrimSpace(line), err)
		}
		row.Micros /= 1000
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no results of %s in:\n%s", planBench, out)
	}
	return rows, nil
}
