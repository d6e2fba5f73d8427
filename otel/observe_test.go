package dynamoleaseotel_test

import (
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"github.com/dynamolease/dynamolease/dynamolease/dynamotest"
	dynamoleaseotel "github.com/dynamolease/dynamolease/otel"
)

// A node that has not joined yet is not healthy, and no more is known of it.
func TestObserveBeforeItJoins(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node("a")
		heal := a.path.Every("", dynamotest.Hang())
		a.run(2)
		rounds(1)
		a.want("alone", a.collect(), map[string]float64{
			"healthy shop": 0, "leases.held orders shop": 0, "session.remaining shop": none, "members shop": none, "leases.free orders shop": none,
		})
		heal()
		rounds(3)
		a.want("joined", a.collect(), map[string]float64{"healthy shop": 1, "leases.held orders shop": 2, "leases.lost lost orders shop": 0})
	})
}

// What is not observed any more is not collected.
func TestObserveNothing(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node("a")
		a.run(2)
		rounds(3)
		a.want("observed", a.collect(), map[string]float64{"healthy shop": 1, "leases.held orders shop": 2})
		if a.collect().values["clock.width"] <= 0 {
			w.Error("the clock's bounds have no width")
		}
		a.metrics.ObserveStore(nil)
		a.metrics.ObserveCoordinator(service, nil)
		a.want("not any more", a.collect(), map[string]float64{
			"clock.width": none, "healthy shop": none, "leases.held orders shop": none, "leases.gained orders shop": 2,
		})
	})
}

// After Close nothing is observed, and counters go on.
func TestClose(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node("a")
		a.run(2)
		rounds(3)
		if err := a.metrics.Close(); err != nil {
			w.Fatal(err)
		}
		a.stop()
		a.want("closed", a.collect(), map[string]float64{
			"clock.width": none, "healthy shop": none, "leases.held orders shop": none, "leases.lost shutdown orders shop": 2,
		})
		if err := a.metrics.Close(); err != nil {
			w.Errorf("close it again: %v", err)
		}
	})
}

// A coordinator that takes the place of one that has stopped is the one that is observed.
func TestObserveAnotherCoordinator(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		a := w.node("a")
		a.run(2)
		rounds(3)
		a.stop()
		a.want("stopped", a.collect(), map[string]float64{"healthy shop": 0, "leases.held orders shop": 0})
		a.run(2)
		rounds(3)
		a.want("another", a.collect(), map[string]float64{"healthy shop": 1, "leases.held orders shop": 2, "leases.gained orders shop": 4})
	})
}

// Metrics of several tables share the instruments of one provider, and are told apart by an attribute.
func TestSeveralTables(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node("a")
		provider := n.provider()
		for _, table := range []string{"first", "second"} {
			m, err := dynamoleaseotel.New(provider, attribute.String("table", table))
			if err != nil {
				w.Fatal(err)
			}
			store := n.newStore(m.StoreOptions)
			if _, err := store.Owners(w.Context(), group); err != nil {
				w.Fatal(err)
			}
			m.ObserveStore(store)
		}
		f := n.collect()
		n.want("both", f, map[string]float64{"requests Query done first": 1, "requests Query done second": 1})
		for _, series := range []string{"clock.width first", "clock.width second"} {
			if f.values[series] <= 0 {
				w.Errorf("%s is missing in %v", series, f.values)
			}
		}
	})
}

// Without a provider it is the process's.
func TestNoProvider(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		n := w.node("a")
		provider := n.provider()
		former := otel.GetMeterProvider()
		otel.SetMeterProvider(provider)
		defer otel.SetMeterProvider(former)
		m, err := dynamoleaseotel.New(nil)
		if err != nil {
			w.Fatal(err)
		}
		store := n.newStore(m.StoreOptions)
		if _, err := store.Owners(w.Context(), group); err != nil {
			w.Fatal(err)
		}
		n.want("by default", n.collect(), map[string]float64{"requests Query done": 1})
	})
}
