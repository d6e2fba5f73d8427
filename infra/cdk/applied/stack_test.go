package applied_test

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"

	"github.com/dynamolease/dynamolease/infra/cdk/internal/stub"
	"github.com/dynamolease/dynamolease/infra/cdk/internal/template"
	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

// limit is how many rows a run of the reaper deletes at most. It is small, so that runs stop early.
const limit = 10

// A grant is what a role of the stack is granted.
type grant struct {
	reads bool
	scope *leasetable.Scope
}

var (
	orders  = &leasetable.Scope{Groups: []string{"orders"}, Services: []string{"shop"}}
	bills   = &leasetable.Scope{Groups: []string{"bills"}, Services: []string{"office"}}
	strange = &leasetable.Scope{Groups: []string{"*", "or?ers", "${aws:username}"}, Services: []string{"sh*"}}
	boot    = &leasetable.Scope{Nodes: []string{"node-1"}}
)

// grants are the roles of the stack, except for the reaper's.
var grants = map[string]grant{
	"Holder": {scope: orders}, "HolderOfAll": {}, "OtherHolder": {scope: bills}, "StrangeHolder": {scope: strange}, "Boot": {scope: boot},
	"Reader": {reads: true, scope: orders}, "ReaderOfAll": {reads: true}, "Verifier": {reads: true, scope: boot},
}

const reaper = "Reaper"

// A synthesis is a stack with a table and grants of all kinds.
type synthesis struct {
	*template.Template
	roles map[string]string // logical ids, by the names in grants, and reaper
}

// synth is done once. Tests change only copies.
var synth = sync.OnceValues(func() (s *synthesis, err error) {
	dir, err := os.MkdirTemp("", "dynamolease-synth-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	// This is only a stand-in: the program that runs is built for this machine.
	program := filepath.Join(dir, "program")
	if err := stub.Program(program, elf.EM_AARCH64); err != nil {
		return nil, err
	}
	app := awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(filepath.Join(dir, "out")), AnalyticsReporting: jsii.Bool(false)})
	stack := awscdk.NewStack(app, jsii.String("Applied"), nil)
	leases, err := leasetable.New(stack, "Leases", &leasetable.Props{Reaper: leasetable.Reaper{AssetDir: program, Limit: limit}})
	if err != nil {
		return nil, err
	}
	s = &synthesis{roles: map[string]string{reaper: logicalID(stack, leases.Function().Role().(awsiam.Role))}}
	for _, name := range slices.Sorted(maps.Keys(grants)) {
		g := grants[name]
		role := awsiam.NewRole(stack, &name, &awsiam.RoleProps{AssumedBy: awsiam.NewServicePrincipal(jsii.String("ecs-tasks.amazonaws.com"), nil)})
		s.roles[name] = logicalID(stack, role)
		if g.reads {
			err = leases.GrantReader(role, g.scope)
		} else {
			err = leases.GrantHolder(role, g.scope)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	text, err := json.Marshal(assertions.Template_FromStack(stack, nil).ToJSON())
	if err != nil {
		return nil, err
	}
	s.Template, err = template.Parse(text)
	return s, err
})

func logicalID(stack awscdk.Stack, role awsiam.Role) string {
	return *stack.GetLogicalId(role.Node().DefaultChild().(awsiam.CfnRole))
}

// stack returns the synthesized stack.
func stack(t testing.TB) *synthesis {
	t.Helper()
	s, err := synth()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
