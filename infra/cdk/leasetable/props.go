package leasetable

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
)

// Props are the settings of a [LeaseTable]. The zero value of each field stands for its default, and so does a nil Props.
type Props struct {
	// TableName is the table's name. Defaults to one that CloudFormation makes up.
	TableName string

	// MaxReadUnits and MaxWriteUnits bound how many request units a second the table takes, and so what it can cost.
	// Requests beyond are throttled. Defaults to no bound of its own.
	MaxReadUnits, MaxWriteUnits int

	// Encryption is the key that the table is encrypted with. Defaults to one that DynamoDB owns. The grants include the
	// use of a key of your own.
	Encryption awsdynamodb.TableEncryptionV2

	// RemovalPolicy says what becomes of the table when it is taken out of the stack. Defaults to RETAIN.
	RemovalPolicy awscdk.RemovalPolicy

	// Deletable turns the deletion protection off.
	Deletable bool

	// WithoutTTL leaves DynamoDB's TTL off: the reaper alone deletes dead rows then.
	WithoutTTL bool

	// Replication adds Regions. Defaults to the stack's Region alone.
	Replication *Replication

	// Reaper says how dead rows are reaped.
	Reaper Reaper

	// Alarms says what the alarms do.
	Alarms Alarms

	// Dashboard adds a CloudWatch dashboard of the table, its reaper and its alarms. It costs something beyond the first
	// three of an account.
	Dashboard bool
}

// Replication is a multi-Region strongly consistent table, in three Regions of one set. It has no transactions: use
// leases with an expiry of their own, and Options.Renewal = EachItem. It has no TTL either: set Props.WithoutTTL.
// The reaper runs in the stack's Region.
type Replication struct {
	// Regions are the other Regions with a replica: two, or one with a Witness.
	Regions []string

	// Witness is the Region that only takes part in the quorum.
	Witness string

	// Consistency must be STRONG. With EVENTUAL, two Regions can hold one lease at the same time.
	Consistency awsdynamodb.MultiRegionConsistency
}

// Reaper is how the function runs that deletes dead rows.
type Reaper struct {
	// Interval is the time between two runs, in whole minutes. Defaults to 5 minutes; 1 minute to 24 hours.
	Interval time.Duration

	// Unscheduled has nothing start the function: invoke it yourself.
	Unscheduled bool

	// Timeout bounds one run, in whole seconds. A run that does not get to the end of the table stops before it, and the
	// next one goes on from there. Defaults to 1 minute; 10 seconds to 15 minutes, and not above Interval.
	Timeout time.Duration

	// Grace is how long a row stays after its ttl has passed. Defaults to 0; at most a year.
	Grace time.Duration

	// Segments is how many parts of the table are scanned at the same time. Defaults to 1; at most 16.
	Segments int

	// Limit is how many rows one run deletes at most. Defaults to no limit; at most a billion.
	Limit int

	// AssetDir is the folder with the function's program, called bootstrap, for linux/arm64: what "make lambda" makes.
	// Defaults to dist/lambda/reaper in the working directory, or in the nearest folder above it that has one.
	AssetDir string
}

// Alarms says what the alarms do, and when.
type Alarms struct {
	// Topic is told when an alarm goes off and when it is over. Defaults to nobody.
	Topic awssns.ITopic

	// RefusedWrites is how many conditional writes may be refused in 5 minutes: some are normal whenever nodes
	// race for a partition. Defaults to 1000.
	RefusedWrites int
}

const (
	defaultInterval      = 5 * time.Minute
	minInterval          = time.Minute
	maxInterval          = 24 * time.Hour
	defaultTimeout       = time.Minute
	minTimeout           = 10 * time.Second
	maxTimeout           = 15 * time.Minute
	maxGrace             = 365 * 24 * time.Hour
	maxSegments          = 16
	maxLimit             = 1_000_000_000
	defaultRefusedWrites = 1000
)

// withDefaults is a copy in which every field has a value that has a default.
func (p *Props) withDefaults() Props {
	if p == nil {
		p = &Props{}
	}
	c := *p
	setDefault(&c.RemovalPolicy, awscdk.RemovalPolicy_RETAIN)
	setDefault(&c.Reaper.Interval, defaultInterval)
	setDefault(&c.Reaper.Timeout, defaultTimeout)
	setDefault(&c.Reaper.Segments, 1)
	setDefault(&c.Alarms.RefusedWrites, defaultRefusedWrites)
	return c
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
