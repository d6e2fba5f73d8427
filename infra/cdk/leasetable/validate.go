package leasetable

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"
)

// A PropsError is returned for a setting that cannot work. Nothing was added to the stack.
type PropsError struct {
	Field   string // such as "Props.Reaper.Interval"
	Problem string
}

func (e *PropsError) Error() string { return e.Field + " " + e.Problem }

func refuse(field, format string, args ...any) error {
	return &PropsError{field, fmt.Sprintf(format, args...)}
}

// isRemovalPolicy reports whether a table can have the policy.
func isRemovalPolicy(p awscdk.RemovalPolicy) bool {
	switch p {
	case awscdk.RemovalPolicy_RETAIN, awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE, awscdk.RemovalPolicy_DESTROY:
		return true
	}
	return false
}

// validate names the first field that cannot work.
func (p *Props) validate(stack awscdk.Stack) error {
	switch {
	case p.TableName != "" && !*awscdk.Token_IsUnresolved(p.TableName) && !isTableName(p.TableName):
		return refuse("Props.TableName", "is %q: 3 to 255 letters, digits and any of _.- are allowed", p.TableName)
	case !isRemovalPolicy(p.RemovalPolicy):
		return refuse("Props.RemovalPolicy", "is %q: RETAIN, RETAIN_ON_UPDATE_OR_DELETE or DESTROY is needed", p.RemovalPolicy)
	case p.MaxReadUnits < 0:
		return refuse("Props.MaxReadUnits", "must not be negative")
	case p.MaxWriteUnits < 0:
		return refuse("Props.MaxWriteUnits", "must not be negative")
	case p.Alarms.RefusedWrites < 0:
		return refuse("Props.Alarms.RefusedWrites", "must not be negative")
	}
	if err := p.Reaper.validate(); err != nil {
		return err
	}
	if p.Encryption != nil && p.Encryption.Type() == awsdynamodb.TableEncryption_CUSTOMER_MANAGED && !regionKnown(stack) {
		return refuse("Props.Encryption", "with a key of your own needs a stack with a known Region: set Env.Region in its StackProps")
	}
	if p.Replication != nil {
		return p.validateReplication(stack)
	}
	return nil
}

// isTableName reports whether DynamoDB accepts the name.
func isTableName(name string) bool {
	const allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
	return len(name) >= 3 && len(name) <= 255 && strings.Trim(name, allowed) == ""
}

func regionKnown(stack awscdk.Stack) bool { return !*awscdk.Token_IsUnresolved(stack.Region()) }

func (r *Reaper) validate() error {
	switch {
	case r.Interval < minInterval || r.Interval > maxInterval || r.Interval%time.Minute != 0:
		return refuse("Props.Reaper.Interval", "is %v: a whole number of minutes is needed, from 1m to 24h", r.Interval)
	case r.Timeout < minTimeout || r.Timeout > maxTimeout || r.Timeout%time.Second != 0:
		return refuse("Props.Reaper.Timeout", "is %v: a whole number of seconds is needed, from 10s to 15m", r.Timeout)
	case r.Timeout > r.Interval:
		return refuse("Props.Reaper.Timeout", "is %v: it must not be above the interval of %v, because runs would wait for each other", r.Timeout, r.Interval)
	case r.Grace < 0 || r.Grace > maxGrace:
		return refuse("Props.Reaper.Grace", "is %v: 0 to a year is allowed", r.Grace)
	case r.Segments < 0 || r.Segments > maxSegments:
		return refuse("Props.Reaper.Segments", "is %d: 1 to %d are allowed", r.Segments, maxSegments)
	case r.Limit < 0 || r.Limit > maxLimit:
		return refuse("Props.Reaper.Limit", "is %d: 1 to %d are allowed, or 0 for no limit", r.Limit, maxLimit)
	}
	return nil
}

func (p *Props) validateReplication(stack awscdk.Stack) error {
	r := p.Replication
	const field = "Props.Replication"
	switch {
	case r.Consistency != awsdynamodb.MultiRegionConsistency_STRONG:
		return refuse(field+".Consistency", "must be STRONG: with replicas that are eventually consistent, two Regions can hold one lease at the same time")
	case !p.WithoutTTL:
		return refuse("Props.WithoutTTL", "must be true with Replication: a multi-Region strongly consistent table has no TTL, so only the reaper deletes its dead rows")
	case r.Witness == "" && len(r.Regions) != 2:
		return refuse(field+".Regions", "are %d: strong consistency needs two besides the stack's own, or one and a Witness", len(r.Regions))
	case r.Witness != "" && len(r.Regions) != 1:
		return refuse(field+".Regions", "are %d: with a Witness, exactly one besides the stack's own is needed", len(r.Regions))
	case !regionKnown(stack):
		return refuse(field, "needs a stack with a known Region: set Env.Region in its StackProps")
	}
	seen := map[string]bool{"": true, *stack.Region(): true, r.Witness: r.Witness != ""}
	for _, region := range r.Regions {
		if seen[region] {
			return refuse(field+".Regions", "has %q: a Region must not be empty, listed twice, the Witness, or the stack's own", region)
		}
		seen[region] = true
	}
	if r.Witness == *stack.Region() {
		return refuse(field+".Witness", "%q is the stack's own Region", r.Witness)
	}
	return nil
}

// number returns an optional number for CDK: nil for 0.
func number(n int) *float64 {
	if n == 0 {
		return nil
	}
	return jsii.Number(n)
}
