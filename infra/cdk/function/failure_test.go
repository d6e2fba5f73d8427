package function_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
)

// after lets a number of requests pass, and then applies the fault to all others.
func after(count int64, fault dynamotest.Fault) dynamotest.Fault {
	var seen atomic.Int64
	return func(req *http.Request, send dynamotest.Send) (*http.Response, error) {
		if seen.Add(1) <= count {
			return send(req)
		}
		return fault(req, send)
	}
}

// If the database goes silent on the way, the run ends before Lambda ends it, and reports how far
// it got.
func TestRunEndsBeforeTheTimeout(t *testing.T) {
	w := newWorld(t)
	w.put(dead(10)...)
	w.path.Every("DeleteItem", dynamotest.Hang())
	p := w.start(3 * time.Second)
	r := p.invoke()
	if r.Stopped != "deadline" || r.Complete || r.Scanned != 10 || r.Deleted != 0 || r.ErrorMessage != "" {
		t.Errorf("the run is %+v", r)
	}
	p.line(`"reaped"`)
}

// A run that read no row fails, and still ends before Lambda ends it.
func TestRunWithoutProgressFails(t *testing.T) {
	w := newWorld(t)
	w.path.Every("", dynamotest.Hang())
	p := w.start(3 * time.Second)
	if r := p.invoke(); !strings.Contains(r.ErrorMessage, "before it read a row") {
		t.Errorf("the run is %+v", r)
	}
	if line := p.line(`"reaped"`); line["level"] != "ERROR" {
		t.Errorf("the line of the run is %v", line)
	}
	if metrics := p.line(`"CloudWatchMetrics"`); metrics["Complete"] != 0.0 {
		t.Errorf("the line of metrics is %v", metrics)
	}
}

// A frozen process cannot end by itself, so Lambda ends it. The next invocation has a new process.
func TestTimeout(t *testing.T) {
	w := newWorld(t)
	w.put(dead(3)...)
	door := dynamotest.NewDoor()
	w.path.Next("", door.Hold)
	p := w.start(2 * time.Second)
	done := p.begin()
	<-door.Arrived()
	if err := p.SignalFunction(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if r := <-done; !strings.Contains(r.body, "Task timed out after 2.00 seconds") {
		t.Errorf("the invocation ended with %+v", r)
	}
	door.Release()
	if r := p.invokeAfterTheEnd(); r.Deleted != 3 || !r.Complete {
		t.Errorf("the next run is %+v", r)
	}
}

// A process that dies takes its invocation along. The next invocation has a new process and does
// the work.
func TestCrash(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGABRT} {
		t.Run(signal.String(), func(t *testing.T) {
			w := newWorld(t)
			w.put(dead(3)...)
			door := dynamotest.NewDoor()
			w.path.Next("DeleteItem", door.Hold)
			p := w.start(patient)
			done := p.begin()
			<-door.Arrived()
			if err := p.SignalFunction(signal); err != nil {
				t.Fatal(err)
			}
			if r := <-done; r.status != http.StatusBadGateway || !strings.Contains(r.body, "Runtime.ExitError") {
				t.Errorf("the invocation ended with %+v", r)
			}
			door.Release()
			if r := p.invokeAfterTheEnd(); !r.Complete || len(w.keys()) != 0 {
				t.Errorf("the next run is %+v, left are %v", r, w.keys())
			}
		})
	}
}

// If the environment is wrong, each invocation returns an error that names the variable, and the
// process stays up.
func TestBadConfiguration(t *testing.T) {
	for variable, value := range map[string]string{
		"DYNAMOLEASE_TABLE":    "",
		"DYNAMOLEASE_GRACE":    "90",
		"DYNAMOLEASE_SEGMENTS": "17",
		"DYNAMOLEASE_LIMIT":    "none",
	} {
		t.Run(variable, func(t *testing.T) {
			w := newWorld(t)
			p := w.start(patient, variable, value)
			for range 2 {
				if r := p.invoke(); !strings.Contains(r.ErrorMessage, variable) || r.ErrorType != "configurationError" {
					t.Errorf("the answer is %+v", r)
				}
			}
			if line := p.line(`"bad configuration"`); line["level"] != "ERROR" || !strings.Contains(line["err"].(string), variable) {
				t.Errorf("the line is %v", line)
			}
			if n := w.path.Count(""); n != 0 {
				t.Errorf("%d requests were made", n)
			}
		})
	}
}

// A missing table is an error that says what to do.
func TestMissingTable(t *testing.T) {
	w := newWorld(t)
	r := w.start(patient, "DYNAMOLEASE_TABLE", "nowhere").invoke()
	if !strings.Contains(r.ErrorMessage, `table "nowhere": it does not exist`) {
		t.Errorf("the answer is %+v", r)
	}
}

// When Lambda ends the process in the middle of a run, the run reports how far it got, and the next
// run continues from there.
func TestSIGTERM(t *testing.T) {
	w := newWorld(t)
	w.put(dead(1100)...)
	door := dynamotest.NewDoor()
	stop := w.path.Every("DeleteItem", after(1000, door.Hold)) // the first page
	p := w.start(patient)
	p.begin()
	<-door.Arrived()
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.line(`"shutting down"`)
	line := p.line(`"reaped"`)
	fields, _ := line["run"].(map[string]any)
	if fields["stopped"] != "shutdown" || fields["complete"] != false || fields["deleted"] != 1000.0 || line["level"] != "INFO" {
		t.Errorf("the line of the run is %v", line)
	}
	<-p.Exited()
	stop()
	if r := w.start(patient).invoke(); !r.Resumed || !r.Complete || r.Deleted != 100 {
		t.Errorf("the next run is %+v", r)
	}
}
