package coordinator

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// unreleased returns err with the names of the partitions that the node had when it began to stop,
// and that neither it has released nor others have: they are free when their leases have expired.
// Nil for none.
func (c *Coordinator) unreleased(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for _, g := range c.groups {
		var numbers []int
		for _, w := range c.stopping {
			var loss *dynamolease.LossError
			elsewhere := errors.As(w.loss, &loss) && loss.Owner != ""
			if w.groupName == g.Name && !w.released && !elsewhere {
				numbers = append(numbers, w.partition)
			}
		}
		if len(numbers) > 0 {
			names = append(names, g.Name+": "+ranges(numbers))
		}
	}
	switch {
	case len(names) == 0:
		return err
	case err == nil:
		err = errors.New("the lease was lost before")
	}
	return fmt.Errorf("not released, and free when the leases have expired (%s): %w", strings.Join(names, "; "), err)
}
