package dynamolease_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A user of the library gets the SDK, smithy-go and uuid, and nothing else.
func TestLibraryImportsFewModules(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
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
