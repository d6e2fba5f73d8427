package watch

import (
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

// A snapshot is what one look has found.
type snapshot struct {
	At      time.Time `json:"at"` // this machine's clock
	Service string    `json:"service"`
	Members []member  `json:"members"`
	Groups  []group   `json:"groups"`
	Moves   []move    `json:"moves"` // since the look before; at the first, all that is held
	Clock   *bounds   `json:"clock,omitempty"`
	Units   float64   `json:"read_units"` // consumed since the start
	Error   string    `json:"error,omitempty"`

	Malformed []string `json:"malformed,omitempty"` // rows that could not be read, the first ten of the members and of each group

	first bool
	news  []move // the latest moves of all looks, but for the first
}

// A member is a node, and how much of the work it has. A node that holds something and is no member is one too.
type member struct {
	Node    string        `json:"node"`
	Session string        `json:"session,omitempty"`
	Address string        `json:"address,omitempty"`
	Here    bool          `json:"member"`
	Drained bool          `json:"drained"`
	Left    *operate.Left `json:"left,omitempty"`
	Shares  []int         `json:"shares"` // in the order of the groups

	number int // that stands for it in pictures, from 0; the same for as long as one watches
}

// A group is what is known of a lease group. How many partitions it has is not in the table: free ones above all that were held
// since the start are not seen.
type group struct {
	Name string `json:"name"`
	Held int    `json:"held"`

	nodes map[int]int // of partitions that are held: the index of the member
	size  int         // one more than the highest partition that was held since the start
}

// A move is a partition that changed hands. From or To is empty where it was, or is, free.
type move struct {
	At        time.Time `json:"at"`
	Group     string    `json:"group"`
	Partition int       `json:"partition"`
	From      string    `json:"from,omitempty"`
	To        string    `json:"to,omitempty"`
	Epoch     int64     `json:"epoch"` // of the new owner, or of the one that is gone
}

// bounds are what is known of the store's clock.
type bounds struct {
	Earliest time.Time `json:"earliest"`
	Latest   time.Time `json:"latest"`
}
