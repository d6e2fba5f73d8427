package leasetable

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
)

// Props are the settings of a [LeaseTable]. The zero value of each field stands for its default. A
// nil Props stands for all defaults.
type Props struct {
	// TableName is the table's name. Defaults to a name that CloudFormation chooses.
	TableName string

	// MaxReadUnits and MaxWriteUnits bound how many request units a second the table serves, and so
	// its cost. DynamoDB throttles requests above them. Defaults to no bound.
	MaxReadUnits, MaxWriteUnits int

	// Encryption is the key that encrypts the table. Defaults to a key that DynamoDB owns. If it is
	// a key of your own, the grants include its use.
	Encryption awsdynamodb.TableEncryptionV2

	// RemovalPolicy says what happens to the table when it is removed from the stack. Defaults to
	// RETAIN.
	RemovalPolicy awscdk.RemovalPolicy

	// Deletable turns the deletion protection off.
	Deletable bool

	// WithoutTTL leaves DynamoDB's TTL off. Then only the reaper deletes dead rows.
	WithoutTTL bool

	// Replication adds Regions. Defaults to the stack's Region alone.
	Replication *Replication

	// Reaper says how dead rows are reaped.
	Reaper Reaper

	// Alarms says what the alarms do.
	Alarms Alarms

	// Dashboard adds a CloudWatch dashboard of the table, its reaper and its alarms. CloudWatch
	// charges for each dashboard beyond the first three of an account.
	Dashboard bool
}

// Replication makes the table a multi-Region strongly consistent one, in three Regions of one set.
// Such a table has no transactions: coordinators with sessions run there as anywhere; plain leases
// need Options.Renewal = EachItem; AcquireAll, Transact with items and takeovers of process leases do
// not work. It has no TTL either: set Props.WithoutTTL. The reaper runs in the Region of the stack.
type Replication struct {
	// Regions are the other Regions with a replica: two, or one with a Witness.
	Regions []string

	// Witness is a Region without a replica, which only takes part in the quorum.
	Witness string

	// Consistency must be STRONG. With EVENTUAL, two Regions can hold one lease at the same time.
	Consistency awsdynamodb.MultiRegionConsistency
}

// A Reaper says how the function that deletes dead rows runs.
type Reaper struct {
	// Interval is the time between two runs, in whole minutes. Defaults to 5 minutes; 1 minute to
	// 24 hours.
	Interval time.Duration

	// Unscheduled leaves the schedule out: you invoke the function yourself.
	Unscheduled bool

	// Timeout bounds one run, in whole seconds. A run that does not reach the end of the table
	// stops before its timeout, and the next run continues from there. Defaults to 1 minute; 10
	// seconds to 15 minutes, and not above Interval.
	Timeout time.Duration

	// Grace is how long a row stays after its ttl has passed. Defaults to 0; at most a year.
	Grace time.Duration

	// Segments is how many parts of the table a run scans at one time. Defaults to 1; at most 16.
	Segments int

	// Limit is how many rows one run deletes at most. Defaults to no limit; at most a billion.
	Limit int

	// AssetDir is the folder with the program of the function, called bootstrap, for linux/arm64:
	// "make lambda" makes it. Defaults to dist/lambda/reaper in the working directory, or in the
	// nearest folder above that has it.
	AssetDir string
}

// Alarms says what the alarms do, and when.
type Alarms struct {
	// Topic gets a message when an alarm goes off and when it is over. Defaults to none.
	Topic awssns.ITopic

	// RefusedWrites is how many conditional writes DynamoDB may refuse in 5 minutes before the
	// alarm goes off. Some are normal whenever nodes race for a partition. Defaults to 1000.
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

// withDefaults returns a copy in which every unset field has its default.
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
