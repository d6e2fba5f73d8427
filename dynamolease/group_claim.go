package dynamolease

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// claimSteps bounds how often ClaimGroup looks at a claim that changes all the time.
const claimSteps = 8

// ClaimGroup has a service work a group of leases, unless another service does, and returns the
// service that does: services that share a group's name by mistake are told so before they work on it
// together. A group is its service's for as long as a member of that takes part in the group, and is
// not drained; then the first other service that claims it has it. Who calls it has to be a member of
// the service that takes part in the group, and asks again with each session that it opens.
// Coordinators do so. It keeps nobody from acquiring leases.
//
// It is one read. A group that nobody has claimed costs one write more; one that another service has,
// a query of that service's members, and two writes to take it over.
//
// With an error, the service that is returned is the one that may have the group, empty if that is
// not known. It is a [SetupError] where the members of the other service may not be read. Other
// errors: [ArgumentError], [RowError], [ErrUnknownOutcome], the context's, or the SDK's, after
// retries for at most 10 seconds a request.
func (s *Store) ClaimGroup(ctx context.Context, group, service string) (by string, err error) {
	if err := firstError(checkName("group", group), checkName("service", service)); err != nil {
		return "", s.explain(err, "claim group")
	}
	c := &claiming{store: s, group: group, service: service}
	for range claimSteps {
		done, err := c.step(ctx)
		if err != nil || done {
			return c.row.service, s.explain(err, "claim group %s for service %s", group, service)
		}
	}
	return c.row.service, fmt.Errorf("claim group %s for service %s: the claim changed %d times meanwhile", group, service, claimSteps)
}

// A claiming is one call of ClaimGroup. A service that has no nodes may get some at any moment, and
// they may have seen the claim as theirs. So a claim is taken over in two steps: the first names the
// former service, too, and the second comes after a look at the former service's members. A node of
// that service first joins, and then looks at the claim: either it is seen, or it sees the first step,
// and takes the claim back. A third service that finds the first step looks at both.
type claiming struct {
	store          *Store
	group, service string
	row            claimRow // as it was read last
}

// step reads the claim, writes it where it has to change, and reports whether it says who works the
// group.
func (c *claiming) step(ctx context.Context) (done bool, err error) {
	rows := c.store.rows
	found, _, err := rows.Get(ctx, claimKey(c.group), rows.Budget(0), rows.Timeout(0))
	if err != nil {
		return false, err
	}
	c.row = claimRow{key: claimKey(c.group)}
	if len(found) > 0 {
		if c.row, err = decodeClaim(found); err != nil {
			return false, err
		}
	}
	switch r := c.row; {
	case r.service == c.service && r.former == "":
		return true, nil
	case r.service == "", r.former == c.service:
		return false, c.write(ctx, c.service, "")
	case r.service == c.service:
		works, err := c.works(ctx, r.former)
		if err != nil || works {
			c.row.service = r.former
			return false, errors.Join(err, c.write(ctx, r.former, ""))
		}
		return false, c.write(ctx, c.service, "")
	default:
		if r.former != "" { // a takeover that was cut short may have missed a node
			if works, err := c.works(ctx, r.former); err != nil || works {
				return false, errors.Join(err, c.write(ctx, r.former, ""))
			}
		}
		works, err := c.works(ctx, r.service)
		if err != nil || works {
			return true, err
		}
		return false, c.write(ctx, c.service, r.service)
	}
}

// works reports whether a service has a node that takes part in the group.
func (c *claiming) works(ctx context.Context, service string) (bool, error) {
	members, err := c.store.Members(ctx, service)
	takesPart := func(m Member) bool { return slices.Contains(m.Groups, c.group) && !m.Drained }
	if slices.ContainsFunc(members, takesPart) {
		return true, nil
	}
	return false, err
}

// write changes the claim if it is still as it was read.
func (c *claiming) write(ctx context.Context, service, former string) error {
	read := c.row
	change := rowstore.Change[claimRow]{
		Key: claimKey(c.group), Decode: decodeClaim, Seen: &rowstore.Known[claimRow]{Row: read}, Hidden: rowstore.AnyRow[claimRow],
		Propose: func(seen rowstore.Known[claimRow], _ rowstore.Moment) (rowstore.Proposal[claimRow], error) {
			if seen.Row.rev != read.rev {
				return rowstore.Proposal[claimRow]{}, nil
			}
			return rowstore.Write(claimRow{key: claimKey(c.group), service: service, former: former}), nil
		},
	}
	_, err := change.Do(ctx, c.store.rows)
	return err
}
