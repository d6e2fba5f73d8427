package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
)

func (p *program) leases() *cobra.Command {
	return &cobra.Command{
		Use: "leases GROUP", Short: "List the live leases of a group", Args: takes("GROUP"),
		Long: `Lists the live leases of a group. LEFT is the time until the lease expires: an interval, because the store's clock is known as
an interval. A lease in a session has as much left as the session. A revoked one is no longer extended.
Checkpoints are shown as text where they can be, otherwise in base64, and cut; --json has all of them, in base64.

It reads the rows of the group twice. If nobody holds a lease, the exit code is 3.`,
		RunE: p.look(func(ctx context.Context, c *connection, args []string) (operate.Report, error) {
			list, err := c.Leases(ctx, args[0])
			return found(list, err)
		}),
	}
}

func (p *program) members() *cobra.Command {
	return &cobra.Command{
		Use: "members SERVICE", Short: "List the live members of a service", Args: takes("SERVICE"),
		Long: `Lists the live members of a service: node, session, address, groups, the time until the membership ends without another
heartbeat, and whether the node is drained. Drained names without a member are listed too. If there are no members, the exit code
is 3.`,
		RunE: p.look(func(ctx context.Context, c *connection, args []string) (operate.Report, error) {
			list, err := c.Members(ctx, args[0])
			return found(list, err)
		}),
	}
}

func (p *program) process() *cobra.Command {
	return &cobra.Command{
		Use: "process NODE", Short: "Show the process lease of a node", Args: takes("NODE"),
		Long: `Shows which boot owns the identity of a node: owner, term, seq, and whether it resigned. The expiry is by the owner's wall clock,
compared with this machine's: it is there for people to read, and nothing is decided by it.`,
		RunE: p.look(func(ctx context.Context, c *connection, args []string) (operate.Report, error) {
			process, err := c.Process(ctx, args[0])
			return onlyIf(process, err)
		}),
	}
}

// onlyIf returns the report if there is no error.
func onlyIf[T operate.Report](report T, err error) (operate.Report, error) {
	if err != nil {
		return nil, err
	}
	return report, nil
}

// found returns a list as a report, also with an error if the list is empty or lacks malformed
// rows. It returns no report if the table could not be read.
func found[T operate.Report](list T, err error) (operate.Report, error) {
	var row *dynamolease.RowError
	if err != nil && !errors.Is(err, operate.ErrNotFound) && !errors.As(err, &row) {
		return nil, err
	}
	if row != nil {
		err = fmt.Errorf("%w\nwhat cannot be read is left out", err)
	}
	return list, err
}
