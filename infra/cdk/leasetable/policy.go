package leasetable

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// Prefixes of the partition keys, as packages dynamolease and processlease write them.
const (
	leasePrefix  = "L#" // of a group's leases
	memberPrefix = "M#" // of a service's members and sessions
	nodePrefix   = "P#" // of a node's process lease and its fences
	positionKey  = "R#reaper"
)

const leadingKeys = "dynamodb:LeadingKeys"

type conditions = *map[string]any

// theseKeys returns conditions that hold for requests of rows with one of these partition keys, and
// for no others. "ForAllValues" alone would hold for a request without any key, such as a Scan.
// "Null" refuses that.
func theseKeys(keys ...string) conditions { return keysBy("ForAllValues:StringEquals", keys) }

// likeKeys returns the conditions of theseKeys with patterns.
func likeKeys(patterns ...string) conditions { return keysBy("ForAllValues:StringLike", patterns) }

func keysBy(operator string, keys []string) conditions {
	return &map[string]any{
		operator: map[string]any{leadingKeys: jsii.Strings(keys...)},
		"Null":   map[string]any{leadingKeys: "false"},
	}
}

// literal escapes a name so that IAM takes it as it is: otherwise IAM would replace everything that
// looks like one of its policy variables. (In a comparison by StringEquals, '*' and '?' stand for
// themselves.)
func literal(name string) string { return strings.ReplaceAll(name, "${", "${$}{") }

func allow(arns []*string, when conditions, operations ...string) awsiam.PolicyStatement {
	var actions []*string
	for _, operation := range operations {
		actions = append(actions, jsii.String("dynamodb:"+operation))
	}
	return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: &actions, Resources: &arns, Conditions: when})
}

// grantKey allows the use of the table's key if it is one of your own.
func (t *LeaseTable) grantKey(grantee awsiam.IGrantable, writes bool) {
	key := t.table.EncryptionKey()
	if key == nil {
		return
	}
	actions := []*string{jsii.String("kms:Decrypt"), jsii.String("kms:DescribeKey")}
	if writes {
		actions = append(actions, *jsii.Strings("kms:Encrypt", "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext",
			"kms:ReEncryptFrom", "kms:ReEncryptTo")...)
	}
	key.Grant(grantee, actions...)
}
