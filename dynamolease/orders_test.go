package dynamolease

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// awkward are parts of names that an order might confuse with its own.
var awkward = []string{" ", "  ", "%", "%20", "%25", "%2520", "7", "0", "#", "L#", "P#", "K#", "P#0000000007", " L#", "\n", "ü", "\U0001F511", "\x00", "name:7", "a"}

func awkwardName(random *rand.Rand) string {
	var name strings.Builder
	for name.Len() == 0 || random.IntN(4) > 0 {
		part := awkward[random.IntN(len(awkward))]
		if name.Len()+len(part) > maxNameLength {
			break
		}
		name.WriteString(part)
	}
	return name.String()
}

// An order names its lease, whatever UTF-8 the group's name and the partition's consist of.
func TestOrderNamesItsLease(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		want := order{rowstore.Key{PK: leasePrefix + awkwardName(random), SK: leaseKey("", random.IntN(1000)).SK}, random.Int64()}
		if random.IntN(2) == 0 {
			want.key.SK = "K#00ff#" + awkwardName(random)
		}
		if got := parseOrders([]string{want.String()}); len(got) != 1 || got[0] != want {
			t.Fatalf("the order %q is read as %+v, want %+v", want, got, want)
		}
	}
	for range 200 { // the longest
		name := strings.Repeat(awkward[random.IntN(len(awkward))], maxNameLength)[:maxNameLength]
		want := order{rowstore.Key{PK: leasePrefix + name, SK: "K#00ff#" + name}, 1}
		if got := parseOrders([]string{want.String()}); got[0] != want {
			t.Fatalf("the order %q is read as %+v, want %+v", want, got, want)
		}
	}
}

// A numbered lease is named as former versions did, which stay in use beside this one while a service is deployed.
func TestOrderOfFormerVersions(t *testing.T) {
	want := order{leaseKey("late orders 7", 7), 5}
	const former = "5 P#0000000007 L#late orders 7"
	if got := parseOrders([]string{former})[0]; got != want || want.String() != former {
		t.Errorf("%q is read as %+v, and written as %q", former, got, want)
	}
	for _, nonsense := range []string{"", " ", "5", "5 ", "x P#0000000007 L#g", "5 P#0000000007", "-1  "} {
		if got := parseOrders([]string{nonsense})[0]; got.epoch > 0 && strings.HasPrefix(got.key.PK, leasePrefix) {
			t.Errorf("%q is read as %+v", nonsense, got)
		}
	}
}
