package dynamolease

import "github.com/dynamolease/dynamolease/internal/rowstore"

// A claimRow says which service works a group. It is beside the group's leases. It has no ttl: it
// stays as long as the group's name means anything.
type claimRow struct {
	key     rowstore.Key
	service string
	former  string // the service from which it is being taken over; empty when that is done
	rev     string
}

func decodeClaim(row rowstore.Item) (claimRow, error) {
	d := decode(row)
	claim := claimRow{key: d.Key, service: d.Text(attrClaimed), rev: d.Text(rowstore.AttrRev)}
	if d.Has(attrFormer) {
		claim.former = d.Text(attrFormer)
	}
	return claim, d.Err
}

// Rev returns the row's rev.
func (r claimRow) Rev() string { return r.rev }

// WithRev returns the row with another rev.
func (r claimRow) WithRev(rev string) claimRow {
	r.rev = rev
	return r
}

// Supersedes is false: a claim that was read otherwise is decided anew.
func (r claimRow) Supersedes(claimRow) bool { return false }

// Requires returns nothing: all that the row holds changes with its rev.
func (r claimRow) Requires() []rowstore.Attribute { return nil }

// Attributes returns the whole row, without its key.
func (r claimRow) Attributes() []rowstore.Attribute {
	list := []rowstore.Attribute{
		{Name: attrClaimed, Value: rowstore.Text(r.service)}, {Name: rowstore.AttrRev, Value: rowstore.Text(r.rev)}, {Name: attrFormer},
	}
	if r.former != "" {
		list[2].Value = rowstore.Text(r.former)
	}
	return list
}
