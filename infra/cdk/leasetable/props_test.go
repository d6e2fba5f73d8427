package leasetable_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"

	"github.com/dynamolease/dynamolease/infra/cdk/leasetable"
)

const (
	strong   = awsdynamodb.MultiRegionConsistency_STRONG
	eventual = awsdynamodb.MultiRegionConsistency_EVENTUAL
)

func TestPropsThatCannotWork(t *testing.T) {
	type props = leasetable.Props
	replicated := func(r leasetable.Replication) func(*props) {
		return func(p *props) { p.WithoutTTL, p.Replication = true, &r }
	}
	for name, c := range map[string]struct {
		change func(*props)
		field  string
		says   string
	}{
		"a name with a space":     {func(p *props) { p.TableName = "a b" }, "Props.TableName", "letters"},
		"a name that is short":    {func(p *props) { p.TableName = "ab" }, "Props.TableName", "3 to 255"},
		"removal of no kind":      {func(p *props) { p.RemovalPolicy = "KEEP" }, "Props.RemovalPolicy", "DESTROY"},
		"snapshot of a table":     {func(p *props) { p.RemovalPolicy = awscdk.RemovalPolicy_SNAPSHOT }, "Props.RemovalPolicy", "SNAPSHOT"},
		"negative read units":     {func(p *props) { p.MaxReadUnits = -1 }, "Props.MaxReadUnits", "negative"},
		"negative write units":    {func(p *props) { p.MaxWriteUnits = -1 }, "Props.MaxWriteUnits", "negative"},
		"negative threshold":      {func(p *props) { p.Alarms.RefusedWrites = -1 }, "Props.Alarms.RefusedWrites", "negative"},
		"interval under a minute": {func(p *props) { p.Reaper.Interval = 59 * time.Second }, "Props.Reaper.Interval", "from 1m"},
		"negative interval":       {func(p *props) { p.Reaper.Interval = -time.Minute }, "Props.Reaper.Interval", "from 1m"},
		"broken minute":           {func(p *props) { p.Reaper.Interval = 90 * time.Second }, "Props.Reaper.Interval", "whole number"},
		"interval above a day":    {func(p *props) { p.Reaper.Interval = 25 * time.Hour }, "Props.Reaper.Interval", "to 24h"},
		"timeout too short":       {func(p *props) { p.Reaper.Timeout = time.Second }, "Props.Reaper.Timeout", "from 10s"},
		"timeout too long":        {func(p *props) { p.Reaper.Timeout = 16 * time.Minute }, "Props.Reaper.Timeout", "to 15m"},
		"broken second":           {func(p *props) { p.Reaper.Timeout = 10500 * time.Millisecond }, "Props.Reaper.Timeout", "whole number"},
		"timeout above interval":  {func(p *props) { p.Reaper.Timeout = 6 * time.Minute }, "Props.Reaper.Timeout", "interval of 5m0s"},
		"negative grace":          {func(p *props) { p.Reaper.Grace = -1 }, "Props.Reaper.Grace", "0 to a year"},
		"too many segments":       {func(p *props) { p.Reaper.Segments = 17 }, "Props.Reaper.Segments", "1 to 16"},
		"negative limit":          {func(p *props) { p.Reaper.Limit = -1 }, "Props.Reaper.Limit", "no limit"},
		"eventual replicas":       {replicated(leasetable.Replication{Regions: []string{"us-east-2", "us-west-2"}, Consistency: eventual}), "Props.Replication.Consistency", "two Regions can hold one lease"},
		"replicas of no kind":     {replicated(leasetable.Replication{Regions: []string{"us-east-2", "us-west-2"}}), "Props.Replication.Consistency", "STRONG"},
		"strong with TTL": {func(p *props) {
			p.Replication = &leasetable.Replication{Regions: []string{"us-east-2", "us-west-2"}, Consistency: strong}
		}, "Props.WithoutTTL", "has no TTL"},
		"one replica":               {replicated(leasetable.Replication{Regions: []string{"us-east-2"}, Consistency: strong}), "Props.Replication.Regions", "or one and a Witness"},
		"two replicas, one witness": {replicated(leasetable.Replication{Regions: []string{"us-east-2", "us-west-2"}, Witness: "us-west-1", Consistency: strong}), "Props.Replication.Regions", "with a Witness"},
		"own Region":                {replicated(leasetable.Replication{Regions: []string{"us-east-1", "us-west-2"}, Consistency: strong}), "Props.Replication.Regions", "us-east-1"},
		"Region twice":              {replicated(leasetable.Replication{Regions: []string{"us-west-2", "us-west-2"}, Consistency: strong}), "Props.Replication.Regions", "us-west-2"},
		"witness at home":           {replicated(leasetable.Replication{Regions: []string{"us-east-2"}, Witness: "us-east-1", Consistency: strong}), "Props.Replication.Witness", "us-east-1"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, "us-east-1")
			err := l.try(c.change)
			if refusedField(err) != c.field || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want it to name %s and to say %q", err, c.field, c.says)
			}
			if n := len(*l.stack.Node().Children()); n > 0 {
				t.Errorf("%d constructs were added all the same", n)
			}
		})
	}
}

func TestPlaceIsNeeded(t *testing.T) {
	if _, err := leasetable.New(nil, "Leases", nil); refusedField(err) != "scope" {
		t.Errorf("%v; want it to name scope", err)
	}
	l := newLab(t, "us-east-1")
	if _, err := leasetable.New(l.stack, "", nil); refusedField(err) != "id" {
		t.Errorf("%v; want it to name id", err)
	}
}

// CDK itself would find out only at the synthesis, with a panic.
func TestOwnKeyNeedsAKnownRegion(t *testing.T) {
	l := newLab(t, "")
	key := awskms.NewKey(l.stack, jsii.String("Key"), nil)
	err := l.try(func(p *leasetable.Props) { p.Encryption = awsdynamodb.TableEncryptionV2_CustomerManagedKey(key, nil) })
	if refusedField(err) != "Props.Encryption" || !strings.Contains(err.Error(), "Env.Region") {
		t.Errorf("%v; want it to name Props.Encryption and Env.Region", err)
	}
}

func TestReplicationNeedsAKnownRegion(t *testing.T) {
	err := newLab(t, "").try(func(p *leasetable.Props) {
		p.WithoutTTL = true
		p.Replication = &leasetable.Replication{Regions: []string{"us-east-2", "us-west-2"}, Consistency: strong}
	})
	if refusedField(err) != "Props.Replication" || !strings.Contains(err.Error(), "Env.Region") {
		t.Errorf("%v; want it to name Props.Replication and Env.Region", err)
	}
}

func TestReplication(t *testing.T) {
	l := newLab(t, "us-east-1")
	l.add(func(p *leasetable.Props) {
		p.WithoutTTL = true
		p.Replication = &leasetable.Replication{Regions: []string{"us-east-2"}, Witness: "us-west-2", Consistency: strong}
	})
	l.expect(globalTable, object{
		"MultiRegionConsistency":  "STRONG",
		"TimeToLiveSpecification": nil,
		"GlobalTableWitnesses":    list{object{"Region": "us-west-2"}},
		"Replicas":                list{object{"Region": "us-east-2"}, object{"Region": "us-east-1"}},
	})
}

// The zero value of everything makes a table that works.
func TestNoProps(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	l := newLab(t, "")
	_, err := leasetable.New(l.stack, "Leases", nil)
	if err == nil || !strings.Contains(err.Error(), `run "make lambda"`) {
		t.Errorf("without a program: %v; want it to name make lambda", err)
	}
}
