package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// The file for Docker Compose has what it needs, by the specification of Compose.
func TestComposeFile(t *testing.T) {
	options, err := cli.NewProjectOptions([]string{"../../local/dynamodb-local.yml"}, cli.WithInterpolation(true))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Services) != 1 {
		t.Fatalf("it has the services %v, want one", project.ServiceNames())
	}
	database := project.Services[project.ServiceNames()[0]]
	if name, tag, _ := strings.Cut(database.Image, ":"); name != "amazon/dynamodb-local" || strings.Count(tag, ".") != 2 {
		t.Errorf("its image is %s, want one version of amazon/dynamodb-local", database.Image)
	}
	for _, flag := range []string{"-inMemory", "-sharedDb"} {
		if !slices.Contains(database.Command, flag) {
			t.Errorf("its command is %q, without %s", database.Command, flag)
		}
	}
	if len(database.Ports) != 1 {
		t.Fatalf("its ports are %v, want one", database.Ports)
	}
	if p := database.Ports[0]; p.HostIP != "127.0.0.1" || p.Published != "8000" || p.Target != 8000 {
		t.Errorf("it is at %s:%s for its port %d, want 127.0.0.1:8000 for 8000", p.HostIP, p.Published, p.Target)
	}
}
