package leasetable

import (
	"errors"
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
)

// GrantHolder allows everything that a program needs to hold leases in scope: coordinators, plain
// and session leases, takeovers, fenced work, membership, process leases, and Store.CheckTable. A nil
// scope is the whole table.
//
// IAM then refuses requests for rows outside of the scope, and requests without a key, such as a
// Scan. If Store.Transact writes items of a program's own tables, the program needs separate grants
// for these.
//
// The error is a [PropsError] if the scope cannot work. After an error, nothing was granted.
func (t *LeaseTable) GrantHolder(grantee awsiam.IGrantable, scope *Scope) error {
	work := []string{"GetItem", "Query", "UpdateItem"}
	if len(t.arns) == 1 {
		// It is for Lease.Check, a part of transactions, which a replicated table does not have.
		work = append(work, "ConditionCheckItem")
	}
	if err := t.grant(grantee, scope, work, []string{"GetItem", "UpdateItem"}); err != nil {
		return fmt.Errorf("grant holder: %w", err)
	}
	t.grantKey(grantee, true)
	return nil
}

// GrantReader allows everything that a program needs to read: Store.Owners and Members, loading and
// verifying process leases, and Store.CheckTable. A nil scope is the whole table.
//
// The error is a [PropsError] if the scope cannot work. After an error, nothing was granted.
func (t *LeaseTable) GrantReader(grantee awsiam.IGrantable, scope *Scope) error {
	if err := t.grant(grantee, scope, []string{"GetItem", "Query"}, []string{"GetItem"}); err != nil {
		return fmt.Errorf("grant reader: %w", err)
	}
	t.grantKey(grantee, false)
	return nil
}

// grant allows operations on the rows in scope: work on the rows of leases and members, process on
// the rows of process leases.
func (t *LeaseTable) grant(grantee awsiam.IGrantable, scope *Scope, work, process []string) error {
	if grantee == nil {
		return errors.New("the grantee must not be nil")
	}
	statements := []awsiam.PolicyStatement{allow(t.arns, nil, "DescribeTable", "DescribeTimeToLive")}
	switch {
	case scope == nil:
		statements = append(statements, allow(t.arns, nil, work...))
	default:
		if err := scope.validate(); err != nil {
			return err
		}
		if keys := scope.workKeys(); len(keys) > 0 {
			statements = append(statements, allow(t.arns, theseKeys(keys...), work...))
		}
		if keys := scope.processKeys(); len(keys) > 0 {
			statements = append(statements, allow(t.arns, theseKeys(keys...), process...))
		}
	}
	for _, statement := range statements {
		if added := grantee.GrantPrincipal().AddToPrincipalPolicy(statement); !*added.StatementAdded {
			return errors.New("the grantee takes no permissions: it must be a role, a user or a group of this app")
		}
	}
	return nil
}
