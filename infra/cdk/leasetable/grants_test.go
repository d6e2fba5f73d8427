package leasetable_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/dynamolease/dynamolease/infra/cdk/internal/iamproxy"
	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

// arn is the table's ARN in a template whose names are bound to those of "leases".
var arn = iamproxy.TableARN("leases")

// policy returns everything that a role is allowed in DynamoDB.
func (l *lab) policy(role awsiam.Role) iamproxy.Policy {
	l.Helper()
	t := l.template()
	table, _, err := t.Only(globalTable)
	if err != nil {
		l.Fatal(err)
	}
	statements, err := t.Bound(table, "leases", arn).Statements(l.logicalID(role))
	if err != nil {
		l.Fatal(err)
	}
	policy, err := iamproxy.Parse(statements)
	if err != nil {
		l.Fatal(err)
	}
	return policy
}

func (l *lab) logicalID(role awsiam.Role) string {
	return *l.stack.GetLogicalId(role.Node().DefaultChild().(awsiam.CfnRole))
}

func exactly(keys ...string) *iamproxy.Keys { return &iamproxy.Keys{Patterns: keys, Required: true} }

func like(patterns ...string) *iamproxy.Keys {
	return &iamproxy.Keys{Patterns: patterns, Like: true, Required: true}
}

func statement(keys *iamproxy.Keys, operations ...string) iamproxy.Statement {
	s := iamproxy.Statement{Resources: []string{arn}, Keys: keys}
	for _, operation := range operations {
		s.Actions = append(s.Actions, "dynamodb:"+operation)
	}
	return s
}

func (l *lab) expectPolicy(what string, role awsiam.Role, want ...iamproxy.Statement) {
	l.Helper()
	if got := l.policy(role); !reflect.DeepEqual(got, iamproxy.Policy(want)) {
		l.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

var check = statement(nil, "DescribeTable", "DescribeTimeToLive")

func TestGrantToNobody(t *testing.T) {
	l := deploy(t)
	if l.leases.GrantHolder(nil, nil) == nil || l.leases.GrantReader(nil, nil) == nil {
		t.Error("granted to nobody")
	}
}

func TestPolicies(t *testing.T) {
	l := deploy(t)
	scope := &leasetable.Scope{Groups: []string{"orders", "bills", "orders"}, Services: []string{"shop"}, Nodes: []string{"n1"}}
	work := exactly("L#bills", "L#orders", "M#shop")
	roles := make(map[string]awsiam.Role)
	for name, grant := range map[string]func(awsiam.IGrantable) error{
		"Holder":      func(g awsiam.IGrantable) error { return l.leases.GrantHolder(g, scope) },
		"HolderOfAll": func(g awsiam.IGrantable) error { return l.leases.GrantHolder(g, nil) },
		"Reader":      func(g awsiam.IGrantable) error { return l.leases.GrantReader(g, scope) },
		"ReaderOfAll": func(g awsiam.IGrantable) error { return l.leases.GrantReader(g, nil) },
		"Boot": func(g awsiam.IGrantable) error {
			return l.leases.GrantHolder(g, &leasetable.Scope{Nodes: []string{"n1"}})
		},
	} {
		roles[name] = l.role(name)
		if err := grant(roles[name]); err != nil {
			t.Fatal(err)
		}
	}
	l.expectPolicy("the holder of a scope", roles["Holder"], check,
		statement(work, "GetItem", "Query", "UpdateItem", "ConditionCheckItem"),
		statement(exactly("P#n1"), "GetItem", "UpdateItem"))
	l.expectPolicy("the holder of all", roles["HolderOfAll"], check,
		statement(nil, "GetItem", "Query", "UpdateItem", "ConditionCheckItem"))
	l.expectPolicy("the reader of a scope", roles["Reader"], check,
		statement(work, "GetItem", "Query"),
		statement(exactly("P#n1"), "GetItem"))
	l.expectPolicy("the reader of all", roles["ReaderOfAll"], check, statement(nil, "GetItem", "Query"))
	l.expectPolicy("a node's boot", roles["Boot"], check, statement(exactly("P#n1"), "GetItem", "UpdateItem"))
	l.expectPolicy("the reaper", l.leases.Function().Role().(awsiam.Role),
		statement(nil, "Scan"),
		statement(like("L#*", "M#*", "P#*"), "DeleteItem"),
		statement(exactly("R#reaper"), "GetItem", "UpdateItem"),
		statement(like("M#*"), "GetItem"),
		statement(like("L#*"), "UpdateItem"))
}

// Besides the table, the reaper writes its own log and its queue of dead letters.
func TestReaperRole(t *testing.T) {
	l := deploy(t)
	statements, err := l.template().Statements(l.logicalID(l.leases.Function().Role().(awsiam.Role)))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{"Action":["logs:CreateLogStream","logs:PutLogEvents"],"Effect":"Allow","Resource":"<LeasesReaperLogs`,
		`{"Action":"sqs:SendMessage","Effect":"Allow","Resource":"<LeasesDeadLetters`,
	} {
		if !strings.Contains(strings.NewReplacer(`\u003c`, "<").Replace(string(statements)), want) {
			t.Errorf("%s has no %s", statements, want)
		}
	}
	if n := strings.Count(string(statements), `"Effect"`); n != 7 {
		t.Errorf("%d statements, want 7: %s", n, statements)
	}
}

// A name is taken literally, whatever characters it has.
func TestGrantsTakeNamesLiterally(t *testing.T) {
	l := deploy(t)
	role := l.role("Holder")
	if err := l.leases.GrantHolder(role, &leasetable.Scope{Groups: []string{"*", "a?", "${aws:username}"}}); err != nil {
		t.Fatal(err)
	}
	l.expectPolicy("it", role, check,
		statement(exactly("L#${$}{aws:username}", "L#*", "L#a?"), "GetItem", "Query", "UpdateItem", "ConditionCheckItem"))
}

func TestScopesThatCannotWork(t *testing.T) {
	l := deploy(t)
	for name, c := range map[string]struct {
		scope leasetable.Scope
		field string
	}{
		"empty":         {leasetable.Scope{}, "Scope"},
		"empty group":   {leasetable.Scope{Groups: []string{""}}, "Scope.Groups"},
		"long service":  {leasetable.Scope{Services: []string{strings.Repeat("s", 256)}}, "Scope.Services"},
		"broken node":   {leasetable.Scope{Nodes: []string{"n\xff"}}, "Scope.Nodes"},
		"unknown group": {leasetable.Scope{Groups: []string{"g", *l.stack.StackName() + *l.stack.Region()}}, "Scope.Groups"},
	} {
		for kind, grant := range map[string]func(awsiam.IGrantable, *leasetable.Scope) error{
			"holder": l.leases.GrantHolder, "reader": l.leases.GrantReader,
		} {
			if err := grant(l.role(strings.ReplaceAll(name+kind, " ", "")), &c.scope); refusedField(err) != c.field {
				t.Errorf("%s, %s: %v; want it to name %s", name, kind, err, c.field)
			}
		}
	}
	for id, r := range l.template().Resources {
		if r.Type == "AWS::IAM::Policy" && !strings.HasPrefix(id, "Leases") {
			t.Errorf("%s was granted all the same", id)
		}
	}
}

func TestGrantsToWhatTakesNone(t *testing.T) {
	l := deploy(t)
	nobody := awsiam.NewServicePrincipal(jsii.String("ecs-tasks.amazonaws.com"), nil)
	if err := l.leases.GrantReader(nobody, nil); err == nil || !strings.Contains(err.Error(), "takes no permissions") {
		t.Errorf("%v; want that it takes no permissions", err)
	}
}

// Who uses the table uses its key.
func TestGrantsIncludeTheKey(t *testing.T) {
	l := newLab(t, "us-east-1")
	key := awskms.NewKey(l.stack, jsii.String("Key"), nil)
	l.add(func(p *leasetable.Props) { p.Encryption = awsdynamodb.TableEncryptionV2_CustomerManagedKey(key, nil) })
	holder, reader := l.role("Holder"), l.role("Reader")
	if err := l.leases.GrantHolder(holder, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.leases.GrantReader(reader, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		who  string
		role awsiam.Role
		want []string
	}{
		{"holder", holder, []string{"kms:Decrypt", "kms:Encrypt"}},
		{"reader", reader, []string{"kms:Decrypt"}},
		{"reaper", l.leases.Function().Role().(awsiam.Role), []string{"kms:Decrypt", "kms:Encrypt"}},
	} {
		statements, err := l.template().Statements(l.logicalID(c.role))
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range []string{"kms:Decrypt", "kms:Encrypt"} {
			if got, want := strings.Contains(string(statements), `"`+action+`"`), slices.Contains(c.want, action); got != want {
				t.Errorf("%s: %s is allowed: %v, want %v", c.who, action, got, want)
			}
		}
	}
}

// Grants on a replicated table cover each of its Regions, and no transactions.
func TestGrantsOfAReplicatedTable(t *testing.T) {
	l := newLab(t, "us-east-1")
	l.add(func(p *leasetable.Props) {
		p.TableName, p.WithoutTTL = "leases", true
		p.Replication = &leasetable.Replication{Regions: []string{"us-east-2"}, Witness: "us-west-2", Consistency: strong}
	})
	role := l.role("Holder")
	if err := l.leases.GrantHolder(role, nil); err != nil {
		t.Fatal(err)
	}
	var found bool
	for _, r := range l.template().Resources {
		document, _ := r.Properties["PolicyDocument"].(object)
		statements, _ := document["Statement"].(list)
		for _, s := range statements {
			if resources, ok := s.(object)["Resource"].(list); ok && len(resources) == 2 {
				found = true
				if slices.Contains(s.(object)["Action"].(list), any("dynamodb:ConditionCheckItem")) {
					t.Error("it includes transactions")
				}
			}
		}
	}
	if !found {
		t.Error("there is no statement on the table in both Regions")
	}
}
