// Fight shows the failover between two processes that want the identity "writer-1". The first
// gets it, and is killed while it holds it. The second takes over and shows its fence.
//
//	go run ./dynamolease/processlease/fight
//
// It starts a local server. To use a server that is running, such as DynamoDB Local, set
// DYNAMODB_ENDPOINT. With -kind stop the owner is not killed but stopped, like a machine in a
// suspend, and continued after the takeover.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fight:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("fight", flag.ContinueOnError)
	kind := flags.String("kind", "kill", "what happens to the owner: kill or stop")
	ttl := flags.Duration("ttl", 3*time.Second, "how long a lease lasts without renewal")
	table := flags.String("table", "", "the table, in a process that fights")
	name := flags.String("name", "", "the name of a process that fights")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *name != "" {
		return fight(ctx, out, *name, *table, *ttl)
	}
	if *kind != "kill" && *kind != "stop" {
		return fmt.Errorf("-kind must be kill or stop, not %q", *kind)
	}
	return referee(ctx, out, *kind == "stop", *ttl)
}
