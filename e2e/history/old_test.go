package history

import (
	"testing"
	"time"
)

// An eventually consistent read returns each row as it was a while before, in one answer.
func TestOldReads(t *testing.T) {
	s := newTale()
	by := &call{what: acquire, owner: "a"}
	s.call(by, func(c *call) { s.write(c, s.lease("a", 5, 60)) })
	before := s.clock()
	s.call(by, func(c *call) { s.write(c, s.lease("b", 6, 90)) })
	s.call(by, func(c *call) { s.write(c, s.member("a#1", 60)) })
	k := leaseRowKey(group, 0)
	for at, want := range map[time.Time]string{s.origin: "", before: "a", s.clock(): "b"} {
		if got := s.db.asOf(k, at).text("owner"); got != want {
			t.Errorf("at %v the owner is %q, want %q", at.Sub(s.origin), got, want)
		}
	}
	content := []byte(`{"Items":[{"pk":{"S":"L#orders"},"sk":{"S":"P#0000000000"}},{"pk":{"S":"M#shop"},"sk":{"S":"N#a#1"}}],"Count":2}`)
	aged, err := s.db.aged("Query", content, before)
	if want := `{"Count":1,"Items":[` + s.db.asOf(k, before).String() + `]}`; err != nil || string(aged) != want {
		t.Errorf("the aged answer is %s, %v; want %s", aged, err, want)
	}
	single := []byte(`{"Item":{"pk":{"S":"M#shop"},"sk":{"S":"N#a#1"}}}`)
	if aged, err := s.db.aged("GetItem", single, before); err != nil || string(aged) != "{}" {
		t.Errorf("the aged answer of a row that was not there is %s, %v", aged, err)
	}
}
