package leasetable_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

// everything returns a stack with all that this package can add.
func everything(t *testing.T) *lab {
	t.Helper()
	l := deploy(t, func(p *leasetable.Props) { p.Reaper.Limit, p.Dashboard = 1000, true })
	scope := &leasetable.Scope{Groups: []string{"orders"}, Services: []string{"shop"}, Nodes: []string{"n1"}}
	for id, err := range map[string]error{
		"holder": l.leases.GrantHolder(l.role("Holder"), scope),
		"reader": l.leases.GrantReader(l.role("Reader"), nil),
	} {
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	return l
}

// The rules that AWS gives for solutions find nothing, and none of them is suppressed.
func TestNag(t *testing.T) {
	l := everything(t)
	awscdk.Aspects_Of(l.app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true)}), nil)
	l.app.Synth(nil)
	if found := l.findings(); found != "" {
		t.Error(found)
	}
}

// findings returns the errors and warnings in the stack, in JSON; it is empty if there are none.
func (l *lab) findings() (found string) {
	l.Helper()
	noted := assertions.Annotations_FromStack(l.stack)
	for _, messages := range []any{
		noted.FindError(jsii.String("*"), assertions.Match_AnyValue()), noted.FindWarning(jsii.String("*"), assertions.Match_AnyValue()),
	} {
		text, err := json.MarshalIndent(messages, "", "  ")
		if err != nil {
			l.Fatal(err)
		}
		if string(text) != "[]" {
			found += string(text)
		}
	}
	return found
}

// The rules do check this stack: without encryption in transit for the queue, they find something.
func TestNagFindsSomething(t *testing.T) {
	l := everything(t)
	l.leases.DeadLetters().Node().TryRemoveChild(jsii.String("Policy"))
	awscdk.Aspects_Of(l.app).Add(cdknag.NewAwsSolutionsChecks(nil), nil)
	l.app.Synth(nil)
	if found := l.findings(); !strings.Contains(found, "AwsSolutions-SQS4") {
		t.Errorf("a queue without encryption in transit gives %q, want AwsSolutions-SQS4", found)
	}
}

// If cfn-lint is not installed, the test is skipped. With CFN_LINT_REQUIRED=1, it fails instead.
func TestCfnLint(t *testing.T) {
	program, err := exec.LookPath("cfn-lint")
	switch {
	case err != nil && os.Getenv("CFN_LINT_REQUIRED") == "1":
		t.Fatalf(`cfn-lint is required, and is not there (install it with "pip install cfn-lint"): %v`, err)
	case err != nil:
		t.Skipf(`cfn-lint is not there, so the template was not checked with it: install it with "pip install cfn-lint" (%v)`, err)
	}
	text, err := json.Marshal(assertions.Template_FromStack(everything(t).stack, nil).ToJSON())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "template.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	// W3005 is about dependencies that CDK writes down although references imply them.
	if out, err := exec.CommandContext(t.Context(), program, "-i", "W3005", "--", file).CombinedOutput(); err != nil {
		t.Errorf("cfn-lint: %v\n%s", err, out)
	}
}
