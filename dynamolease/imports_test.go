package dynamolease_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// library is the packages that users import.
var library = []string{".", "./coordinator", "./coordinator/hint", "./processlease"}

// A user of the library gets the SDK, smithy-go and uuid, and nothing else.
func TestLibraryImportsFewModules(t *testing.T) {
	modules := strings.Fields(output(t, append([]string{"list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}"}, library...)...))
	if len(modules) == 0 {
		t.Fatal("no modules listed")
	}
	for _, module := range modules {
		switch {
		case module == "github.com/dynamolease/dynamolease", module == "github.com/google/uuid", module == "github.com/aws/smithy-go":
		case module == "github.com/aws/aws-sdk-go-v2", strings.HasPrefix(module, "github.com/aws/aws-sdk-go-v2/internal/"):
		case module == "github.com/aws/aws-sdk-go-v2/service/dynamodb", strings.HasPrefix(module, "github.com/aws/aws-sdk-go-v2/service/internal/"):
		default:
			t.Errorf("the library imports %s", module)
		}
	}
}

// The module requires what the library, the reaper and the tests of both import. Every user's build sees this list, and
// what the programs need besides belongs into their modules.
func TestModuleRequiresFewModules(t *testing.T) {
	allowed := []string{
		"github.com/aws/aws-lambda-go", // the reaper
		"github.com/aws/aws-sdk-go-v2",
		"github.com/aws/aws-sdk-go-v2/config", // the reaper, and the tests against DynamoDB itself
		"github.com/aws/aws-sdk-go-v2/service/dynamodb",
		"github.com/aws/smithy-go",
		"github.com/google/uuid",
		"go.uber.org/goleak", // tests
		"pgregory.net/rapid", // tests
	}
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal([]byte(output(t, "mod", "edit", "-json", "../go.mod")), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Require) == 0 {
		t.Fatal("no modules required")
	}
	for _, required := range file.Require {
		sdk := strings.HasPrefix(required.Path, "github.com/aws/aws-sdk-go-v2/") && required.Indirect
		if !sdk && !slices.Contains(allowed, required.Path) {
			t.Errorf("go.mod requires %s", required.Path)
		}
	}
}

// output returns what the go command prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
