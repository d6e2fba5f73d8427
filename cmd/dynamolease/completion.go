package main

import (
	"github.com/spf13/cobra"
)

func (p *program) completion() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish", Short: "Print a script that completes commands in the shell", ValidArgs: []string{"bash", "zsh", "fish"},
		Annotations: withoutTable(), Args: takesShell,
		Long: `Prints a script that has the shell complete commands and flags. For one shell:

  bash (with the package bash-completion)   source <(dynamolease completion bash)
  zsh                                       source <(dynamolease completion zsh)
  fish                                      dynamolease completion fish | source

Put that line where the shell starts, ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish, to have it in all.`,
		RunE: func(c *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(p.out, true)
			case "zsh":
				return c.Root().GenZshCompletion(p.out)
			case "fish":
				return c.Root().GenFishCompletion(p.out, true)
			}
			return misuse("%q is not bash, zsh or fish", args[0])
		},
	}
}

func takesShell(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return misuse("say for which shell: bash, zsh or fish")
	}
	return takes("the shell")(c, args)
}
