package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynamolease/dynamolease/cmd/dynamolease/internal/operate"
	"github.com/dynamolease/dynamolease/dynamolease"
)

func (p *program) tables() *cobra.Command {
	table := &cobra.Command{
		Use: "table", Short: "Make, check or describe the table", Args: p.noCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			return misuse("a command is missing; there are %s", names(c))
		},
	}
	table.AddCommand(p.createTable(), p.checkTable(), p.describeTable())
	return table
}

func (p *program) createTable() *cobra.Command {
	c := &cobra.Command{
		Use: "create", Short: "Make the table, if it is not there", Args: takes(),
		Long: `Makes the table: string keys pk and sk, on-demand capacity, TTL on the attribute ttl, no index. It waits until the table can be
used. A table that is there already is checked and left as it is, except that a TTL that is off is turned on. In production, make
the table with your other infrastructure instead.`,
	}
	wait := waitFlag(c, 5*time.Minute, "how long to wait at most until the table can be used")
	bound(c.Flags(), "wait", "must be more than 0", func() bool { return *wait > 0 })
	c.RunE = p.onTable(func(ctx context.Context, c *connection, _ []string) (operate.Report, error) {
		var made operate.Checked
		err := operate.Within(ctx, "--wait", *wait, func(ctx context.Context) (err error) {
			made, err = c.Create(ctx)
			return err
		})
		return onlyIf(made, err)
	})
	return c
}

func (p *program) checkTable() *cobra.Command {
	c := &cobra.Command{
		Use: "check", Short: "Check the table, and the permissions of a program", Args: takes(),
		Long: `Checks the state, the keys and the TTL of the table. What works but deserves a look, such as a TTL that is off, is printed as a
warning, and the exit code is 0 all the same: with --json, look at "warnings". A table that cannot be used is an error.

With flags that say what a program uses the table for, it also checks that these credentials have each permission that the program
will ever need, by requests that change nothing. What is missing is an error that names each action, and what it is needed for. Run
it with the credentials of the program. A coordinator needs its --service and its --group.`,
	}
	var access dynamolease.Access
	c.Flags().StringArrayVar(&access.Groups, "group", nil, "a `GROUP` whose leases the program holds; may be repeated")
	c.Flags().StringArrayVar(&access.Services, "service", nil, "a `SERVICE` of which it is a node, and from whose sessions it takes over; may be repeated")
	c.Flags().StringArrayVar(&access.Nodes, "node", nil, "a `NODE` whose process lease it holds; may be repeated")
	c.Flags().BoolVar(&access.Transactions, "transactions", false, "it renews leases of their own by transactions, or calls AcquireAll or Transact with items")
	c.Flags().BoolVar(&access.LeaseChecks, "lease-checks", false, "it puts Lease.Check into transactions")
	c.Flags().BoolVar(&access.Reap, "reap", false, "it reaps")
	c.PreRunE = func(*cobra.Command, []string) error {
		if len(access.Groups) == 0 && (access.Transactions || access.LeaseChecks) {
			return misuse("--transactions and --lease-checks need a --group")
		}
		return nil
	}
	c.RunE = p.look(func(ctx context.Context, conn *connection, _ []string) (operate.Report, error) {
		access.Takeovers = access.Services
		var accesses []dynamolease.Access
		if len(access.Groups)+len(access.Services)+len(access.Nodes) > 0 || access.Reap {
			accesses = append(accesses, access)
		}
		checked, err := conn.Check(ctx, accesses...)
		return onlyIf(checked, err)
	})
	return c
}

func (p *program) describeTable() *cobra.Command {
	return &cobra.Command{
		Use: "describe", Short: "Show what the table is like: keys, billing, TTL, size", Args: takes(),
		Long: `Shows what DynamoDB says of the table. It reads no rows. DynamoDB counts items and bytes every six hours or so.`,
		RunE: p.look(func(ctx context.Context, c *connection, _ []string) (operate.Report, error) {
			d, err := c.Describe(ctx)
			return onlyIf(d, err)
		}),
	}
}
