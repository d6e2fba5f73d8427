package main

import (
	"errors"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// stoppedByShutdown is the reason of a run that ended because its process did.
const stoppedByShutdown dynamolease.StopReason = "shutdown"

// A summary is what a run did: the function's response, and what it logs. Its keys are part of the function's interface.
type summary struct {
	Table      string                 `json:"table"`
	Scanned    int                    `json:"scanned"`
	Due        int                    `json:"due"`
	Deleted    int                    `json:"deleted"`
	Raced      int                    `json:"raced"`
	Kept       int                    `json:"kept"`
	Unreadable int                    `json:"unreadable"`
	Unanswered int                    `json:"unanswered"`
	ReadUnits  float64                `json:"readUnits"`
	WriteUnits float64                `json:"writeUnits"`
	Throttled  int                    `json:"throttled"`
	Resumed    bool                   `json:"resumed"`
	Stopped    dynamolease.StopReason `json:"stopped"`  // empty for a run that is complete, or failed
	Complete   bool                   `json:"complete"` // it got to the end of the table
	DurationMS float64                `json:"durationMs"`
}

// summarize sums up a run of Reap that ended with err.
func summarize(table string, report dynamolease.ReapReport, err error, took time.Duration) summary {
	s := summary{
		Table:      table,
		Scanned:    report.Scanned,
		Due:        report.Due,
		Deleted:    report.Deleted,
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
