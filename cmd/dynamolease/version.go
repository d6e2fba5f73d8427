package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// A build identifies a build of the command.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	System   string `json:"system"`
}

// Text returns one line.
func (b build) Text() string {
	revision := ""
	if b.Revision != "" {
		revision = " (" + b.Revision + ")"
	}
	return fmt.Sprintf("dynamolease %s%s, %s, %s\n", b.Version, revision, b.Go, b.System)
}

func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show which version this is", Args: takes(), Annotations: withoutTable(),
		RunE: func(*cobra.Command, []string) error { return p.show(thisBuild()) },
	}
}

func thisBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			b.Revision = setting.Value
		}
	}
	return b
}
