package history

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience bounds the search for an order of one partition's operations, in real time.
const patience = 20 * time.Second

// A verdict is the result of the checks of one history.
type verdict struct {
	seed       uint64
	operations int
	faulted    int // operations that met a fault
	faults     [faultKinds]int
	checked    int      // operations of the models, including attempts whose answer no caller saw
	unknown    int      // searches that took too long
	problems   []string // empty if the history keeps all promises
	files      []string // files with more about the problems
}

// judge checks a history. Call it outside of the bubble in which the history was played.
func (w *world) judge() verdict {
	w.inspect()
	v := verdict{seed: w.seed, faults: w.counts.by, problems: w.problems}
	for _, c := range w.calls {
		if c.what == sweep || c.what == deleteByHand {
			continue
		}
		v.operations++
		if len(c.faults()) > 0 {
			v.faulted++
		}
	}
	model := leaseModel(w.sessions())
	for p := range partitions {
		v.search(fmt.Sprint("partition ", p), model, w.leaseOperations(p))
	}
	v.search("identity", headModel(), w.headOperations())
	for _, name := range w.drained() {
		v.search("drain of "+name, drainModel(), w.drainOperations(name))
	}
	if len(v.problems) > 0 {
		v.files = append(v.files, w.save())
	}
	return v
}

// search looks for an order of the operations that the model allows.
func (v *verdict) search(name string, model porcupine.Model, operations []porcupine.Operation) {
	v.checked += len(operations)
	switch porcupine.CheckOperationsTimeout(model, operations, patience) {
	case porcupine.Unknown:
		v.unknown++
	case porcupine.Illegal:
		_, info := porcupine.CheckOperationsVerbose(model, operations, patience)
		v.problems = append(v.problems, name+" is not linearizable:\n"+explain(model, operations, &info))
		if file, err := picture(model, info, fmt.Sprintf("dynamolease-history-%d-%s-*.html", v.seed, strings.ReplaceAll(name, " ", "-"))); err == nil {
			v.files = append(v.files, file)
		}
	}
}

func picture(model porcupine.Model, info porcupine.LinearizationInfo, name string) (string, error) {
	file, err := os.CreateTemp("", name)
	if err != nil {
		return "", err
	}
	return file.Name(), errors.Join(porcupine.Visualize(model, info, file), file.Close())
}

// explain describes the longest order that the search found, and the operations that cannot follow
// it.
func explain(model porcupine.Model, operations []porcupine.Operation, info *porcupine.LinearizationInfo) string {
	var longest []porcupine.Operation
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, order := range partition {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	var b strings.Builder
	state := model.Init()
	placed := make(map[string]int)
	for i, op := range longest {
		_, state = model.Step(state, op.Input, op.Output)
		placed[describe(model, op)]++
		if i >= len(longest)-8 {
			fmt.Fprintf(&b, "      %s\n", describe(model, op))
		}
	}
	fmt.Fprintf(&b, "  state: %s\n", model.DescribeState(state))
	first := int64(0)
	for _, op := range operations {
		if placed[describe(model, op)]--; placed[describe(model, op)] < 0 && (first == 0 || op.Return < first) {
			first = op.Return
		}
	}
	for _, op := range longest {
		placed[describe(model, op)]++
	}
	for _, op := range operations {
		if placed[describe(model, op)]--; placed[describe(model, op)] < 0 && op.Call <= first {
			fmt.Fprintf(&b, "  cannot follow: %s\n", describe(model, op))
		}
	}
	return b.String()
}

func describe(model porcupine.Model, op porcupine.Operation) string {
	return fmt.Sprintf("%d-%d client %d: %s", op.Call, op.Return, op.ClientId, model.DescribeOperation(op.Input, op.Output))
}

// save writes all calls, deliveries and changes to a file, and returns its name.
func (w *world) save() string {
	file, err := os.CreateTemp("", fmt.Sprintf("dynamolease-history-%d-*.txt", w.seed))
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	fmt.Fprintf(file, "the climate: %+v\n", w.climate)
	for _, c := range w.calls {
		fmt.Fprintln(file, c)
	}
	for _, d := range w.db.arrived {
		fmt.Fprintln(file, d)
	}
	for _, ch := range w.db.changes {
		fmt.Fprintln(file, ch)
	}
	return file.Name()
}
