package dynamolease

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// An order names a lease that a session must give up. It stands in the session's row, see
// revocation.
type order struct {
	key   rowstore.Key
	epoch int64
}

// Spaces separate the parts of an order. So a sort key, which may be a name, has none; a partition
// key stands last, and may have some.
var (
	spaceless = strings.NewReplacer("%", "%25", " ", "%20")
	spaced    = strings.NewReplacer("%25", "%", "%20", " ")
)

// String returns the order as the session's row has it.
func (o order) String() string {
	return fmt.Sprintf("%d %s %s", o.epoch, spaceless.Replace(o.key.SK), o.key.PK)
}

// parseOrders returns the orders in a session's row. Text of any other kind names no lease that there
// could be.
func parseOrders(texts []string) []order {
	orders := make([]order, len(texts))
	for i, text := range texts {
		epoch, lease, _ := strings.Cut(text, " ")
		sk, pk, _ := strings.Cut(lease, " ")
		orders[i].key = rowstore.Key{PK: pk, SK: spaced.Replace(sk)}
		orders[i].epoch, _ = strconv.ParseInt(epoch, 10, 64)
	}
	return orders
}

// obey has the session's heartbeats extend these leases no more. It remembers them while the session
// may be about to learn that it has acquired one of them: an acquisition that began before the order
// has ended a ttl later.
func (s *Session) obey(orders ...order) {
	if len(orders) == 0 {
		return
	}
	now := s.store.rows.Time.Elapsed().Min
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, told := range s.revoked {
		if s.held[k] == nil && now-told.since > s.ttl {
			delete(s.revoked, k)
		}
	}
	for _, o := range orders {
		s.revoked[o.key] = revokedLease{max(s.revoked[o.key].epoch, o.epoch), now}
		if held := s.held[o.key]; held != nil && held.epoch == o.epoch {
			held.revoke()
		}
	}
}
