package watch

import (
	"time"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
)

// A snapshot is the result of one look.
type snapshot struct {
	At      time.Time `json:"at"` // by this machine's clock
	Service string    `json:"service"`
	Members []member  `json:"members"`
	Groups  []group   `json:"groups"`
	Moves   []move    `json:"moves"` // since the look before; at first, everything that is held
	Clock   *bounds   `json:"clock,omitempty"`
	Units   float64   `json:"read_units"` // consumed since the start
	Error   string    `json:"error,omitempty"`

	Malformed []string `json:"malformed,omitempty"` // rows: the first ten of the members and of each group

	first bool
	news  []move // the latest moves of all looks but the first
}

// A member is a node with its share of the work. A node that holds something without being a member
// is listed too.
type member struct {
	Node    string        `json:"node"`
	Session string        `json:"session,omitempty"`
	Address string        `json:"address,omitempty"`
	Here    bool          `json:"member"`
	Drained bool          `json:"drained"`
	Left    *operate.Left `json:"left,omitempty"`
	Shares  []int         `json:"shares"` // in the order of the groups

	number int // of its mark in pictures, from 0; never changes
}

// A group is what is known of a lease group. Its size is not in the table: free partitions above
// all that have a row, or had one since the start, are unknown.
type group struct {
	Name    string    `json:"name"`
	Held    int       `json:"held"`
	Unowned []unowned `json:"unowned,omitempty"`

	nodes map[int]int // the index of the member, by partitions that are held
	size  int         // one more than the highest partition with a row since the start
}

// An unowned partition is one that nobody holds. Why, only its nodes know.
type unowned struct {
	Partition int       `json:"partition"`
	Since     time.Time `json:"since"` // the first look that saw it so
}

// A move is a change of a partition's owner. From or To is empty if the partition was, or is, free.
type move struct {
	At        time.Time `json:"at"`
	Group     string    `json:"group"`
	Partition int       `json:"partition"`
	From      string    `json:"from,omitempty"`
	To        string    `json:"to,omitempty"`
	Epoch     int64     `json:"epoch"` // of the new owner, or of the last one
}

// bounds are the limits of the store's time.
type bounds struct {
	Earliest time.Time `json:"earliest"`
	Latest   time.Time `json:"latest"`
}
