package leasetable

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"
)

// Names of the table's attributes, as package dynamolease uses them.
const (
	partitionKey = "pk"
	sortKey      = "sk"
	ttlAttribute = "ttl"
)

// addTable adds the table. It has no index: an index on an attribute that changes at a renewal
// would double the bill.
func (t *LeaseTable) addTable(p Props) {
	props := &awsdynamodb.TablePropsV2{
		PartitionKey: &awsdynamodb.Attribute{Name: jsii.String(partitionKey), Type: awsdynamodb.AttributeType_STRING},
		SortKey:      &awsdynamodb.Attribute{Name: jsii.String(sortKey), Type: awsdynamodb.AttributeType_STRING},
		Billing: awsdynamodb.Billing_OnDemand(&awsdynamodb.MaxThroughputProps{
			MaxReadRequestUnits: number(p.MaxReadUnits), MaxWriteRequestUnits: number(p.MaxWriteUnits),
		}),
		Encryption:         p.Encryption,
		DeletionProtection: jsii.Bool(!p.Deletable),
		RemovalPolicy:      p.RemovalPolicy,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
	}
	if p.TableName != "" {
		props.TableName = &p.TableName
	}
	if !p.WithoutTTL {
		props.TimeToLiveAttribute = jsii.String(ttlAttribute)
	}
	if p.Replication != nil {
		replicate(props, *p.Replication)
	}
	t.table = awsdynamodb.NewTableV2(t, jsii.String("Table"), props)
	t.arns = []*string{t.table.TableArn()}
	if p.Replication != nil {
		for _, region := range p.Replication.Regions {
			t.arns = append(t.arns, t.table.Replica(&region).TableArn())
		}
	}
}

func replicate(props *awsdynamodb.TablePropsV2, r Replication) {
	var replicas []*awsdynamodb.ReplicaTableProps
	for _, region := range r.Regions {
		replicas = append(replicas, &awsdynamodb.ReplicaTableProps{Region: jsii.String(region)})
	}
	props.Replicas = &replicas
	props.MultiRegionConsistency = r.Consistency
	if r.Witness != "" {
		props.WitnessRegion = &r.Witness
	}
}
