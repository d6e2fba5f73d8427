package leasetable_test

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
	"go.uber.org/goleak"

	"github.com/dynamolease/dynamolease/infra/cdk/internal/stub"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/template"
	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

// The runtime behind CDK takes one call at a time, so no test here may be parallel.
func TestMain(m *testing.M) {
	code := m.Run()
	jsii.Close()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// program makes a folder with a stand-in for the reaper's program.
func program(t testing.TB, machine elf.Machine) string {
	t.Helper()
	dir := t.TempDir()
	if err := stub.Program(dir, machine); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A lab is a stack for one test.
type lab struct {
	testing.TB
	app    awscdk.App
	stack  awscdk.Stack
	leases *leasetable.LeaseTable
	synth  *template.Template // nil until the first look; add nothing after it
}

// newLab makes a stack, in a Region if one is given.
func newLab(t testing.TB, region string) *lab {
	t.Helper()
	app := awscdk.NewApp(&awscdk.AppProps{
		Outdir: jsii.String(t.TempDir()), AnalyticsReporting: jsii.Bool(false),
		// If CDK's own rules find anything in a template, the test fails.
		Context: &map[string]any{"@aws-cdk/core:validateAgainstDefaultRules": true},
	})
	props := &awscdk.StackProps{}
	if region != "" {
		props.Env = &awscdk.Environment{Account: jsii.String("123456789012"), Region: &region}
	}
	return &lab{TB: t, app: app, stack: awscdk.NewStack(app, jsii.String("Test"), props)}
}

// deploy makes a stack with a lease table.
func deploy(t testing.TB, change ...func(*leasetable.Props)) *lab {
	t.Helper()
	l := newLab(t, "")
	l.add(change...)
	return l
}

func (l *lab) add(change ...func(*leasetable.Props)) {
	l.Helper()
	if err := l.try(change...); err != nil {
		l.Fatal(err)
	}
}

func (l *lab) try(change ...func(*leasetable.Props)) (err error) {
	l.Helper()
	props := &leasetable.Props{Reaper: leasetable.Reaper{AssetDir: program(l, elf.EM_AARCH64)}}
	for _, c := range change {
		c(props)
	}
	l.leases, err = leasetable.New(l.stack, "Leases", props)
	return err
}

// role makes an identity that a test can grant something to.
func (l *lab) role(id string) awsiam.Role {
	return awsiam.NewRole(l.stack, &id, &awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(jsii.String("ecs-tasks.amazonaws.com"), nil)})
}

// template returns the synthesized stack.
func (l *lab) template() *template.Template {
	l.Helper()
	if l.synth != nil {
		return l.synth
	}
	text, err := json.Marshal(assertions.Template_FromStack(l.stack, nil).ToJSON())
	if err != nil {
		l.Fatal(err)
	}
	if l.synth, err = template.Parse(text); err != nil {
		l.Fatal(err)
	}
	return l.synth
}

// only returns the one resource of a type, resolved, without the place where its code is stored.
func (l *lab) only(kind string) map[string]any {
	l.Helper()
	t := l.template()
	_, r, err := t.Only(kind)
	if err != nil {
		l.Fatal(err)
	}
	properties := maps.Clone(r.Properties)
	delete(properties, "Code")
	resolved, err := t.Resolve(properties)
	if err != nil {
		l.Fatal(err)
	}
	return resolved.(map[string]any)
}

func refusedField(err error) string {
	var refused *leasetable.PropsError
	if errors.As(err, &refused) {
		return refused.Field
	}
	return ""
}
