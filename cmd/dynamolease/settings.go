package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
)

const tableVariable = "DYNAMOLEASE_TABLE"

// settings are the flags of all commands.
type settings struct {
	table    string
	endpoint string
	region   string
	profile  string
	json     bool
	timeout  time.Duration
}

const rootHelp = `Looks at leases and members that are kept in a DynamoDB table, and takes leases from their holders where it is told to.

Credentials, Region and endpoint are the usual AWS configuration (environment, ~/.aws, roles). At an endpoint on this machine
none is needed.

Exit codes: 0 done; 1 failed; 2 arguments that cannot be used; 3 what was named is not there (lease, node, service, table);
4 not confirmed: answer the question with y, or use --yes; 5 ordered and not done yet, or nothing tells whether it was done:
run the same again.`

// root returns the command with all its subcommands.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use: "dynamolease", Short: "Leases in a DynamoDB table", Long: rootHelp,
		SilenceErrors: true, SilenceUsage: true,
		Args: p.noCommand, RunE: func(c *cobra.Command, _ []string) error {
			return misuse("a command is missing; there are %s", names(c))
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	flags := root.PersistentFlags()
	flags.StringVar(&p.table, "table", os.Getenv(tableVariable), "name or ARN of the `TABLE` (or "+tableVariable+")")
	flags.StringVar(&p.endpoint, "endpoint-url", "", "`URL` of DynamoDB (default AWS's)")
	flags.StringVar(&p.region, "region", "", "AWS `REGION`")
	flags.StringVar(&p.profile, "profile", "", "`PROFILE` of the AWS configuration")
	flags.BoolVar(&p.json, "json", false, "print one JSON document (watch: one a line)")
	flags.DurationVar(&p.timeout, "timeout", 15*time.Second, "how long one look at the table, or one order, may take")
	bound(flags, "timeout", "must be more than 0", func() bool { return p.timeout > 0 })
	flags.Lookup("table").DefValue = "" // help does not show the user's environment
	root.AddCommand(
		p.tables(), p.leases(), p.members(), p.process(), p.watch(),
		p.release(), p.drain(), p.undrain(), p.reap(),
		p.completion(), p.version(),
	)
	p.addHelp(root)
	return root
}

// addHelp adds cobra's help command, which then refuses names that are no commands.
func (p *program) addHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() == "help" {
			c.Annotations = withoutTable()
			c.Args = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil || len(rest) == 0 {
					return err
				}
				if !about.HasSubCommands() {
					return misuse("unexpected argument %q", rest[0])
				}
				return p.noCommand(about, rest)
			}
		}
	}
}

// noCommand refuses arguments of a command that only has subcommands.
func (p *program) noCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misuse("there is no command %q; there are %s", args[0], names(c))
	}
	return nil
}

func names(c *cobra.Command) string {
	list := ""
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			list += ", " + sub.Name()
		}
	}
	if list == "" {
		return "none"
	}
	return list[2:]
}
