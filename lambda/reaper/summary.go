package main

import (
	"errors"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// errShutdown is the cause of the end of the context when Lambda ends the process.
var errShutdown = errors.New("the process is being shut down")

// stoppedByShutdown is the reason of a run that stopped because Lambda ended the process.
const stoppedByShutdown dynamolease.StopReason = "shutdown"

// A summary is the result of a run. The function responds with it and logs it. Its keys are part of
// the function's interface.
type summary struct {
	Table      string                 `json:"table"`
	Scanned    int                    `json:"scanned"`
	Due        int                    `json:"due"`
	Deleted    int                    `json:"deleted"`
	Freed      int                    `json:"freed"`
	Raced      int                    `json:"raced"`
	Kept       int                    `json:"kept"`
	Unreadable int                    `json:"unreadable"`
	Unanswered int                    `json:"unanswered"`
	ReadUnits  float64                `json:"readUnits"`
	WriteUnits float64                `json:"writeUnits"`
	Throttled  int                    `json:"throttled"`
	Resumed    bool                   `json:"resumed"`
	Stopped    dynamolease.StopReason `json:"stopped"`  // empty if the run is complete, or failed
	Complete   bool                   `json:"complete"` // the run reached the end of the table
	DurationMS float64                `json:"durationMs"`
}

// summarize returns the summary of a run of Reap that returned err.
func summarize(table string, report dynamolease.ReapReport, err error, took time.Duration) summary {
	s := summary{
		Table:      table,
		Scanned:    report.Scanned,
		Due:        report.Due,
		Deleted:    report.Deleted,
		Freed:      report.Freed,
		Raced:      report.Raced,
		Kept:       report.Kept,
		Unreadable: report.Unreadable,
		Unanswered: report.Unanswered,
		ReadUnits:  report.ReadUnits,
		WriteUnits: report.WriteUnits,
		Throttled:  report.Throttled,
		Resumed:    report.Resumed,
		Stopped:    report.Stopped,
		Complete:   err == nil && report.Stopped == "",
		DurationMS: float64(took.Microseconds()) / 1000,
	}
	if errors.Is(err, errShutdown) {
		s.Stopped = stoppedByShutdown
	}
	return s
}
