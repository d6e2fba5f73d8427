package dynamolease

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dynamolease/dynamolease/internal/request"
	"github.com/dynamolease/dynamolease/internal/rowstore"
)

// probesInFlight is how many requests CheckAccess makes at one time.
const probesInFlight = 16

// CheckAccess proves that these credentials have every permission that an access will ever need,
// also those that only a takeover or the end of a session needs, long after the start. It makes one
// request for each kind of request and each group, service or node, such as an UpdateItem on a
// condition that cannot hold. They change nothing, and read no rows but one of a Scan for Reap. Each
// is authorized as the real one is, also by a policy on dynamodb:LeadingKeys. For one group and one
// service these are six requests: about two read and two write units.
//
// The error wraps a [SetupError] for each permission that is missing. It names the action, the rows,
// and for which purpose they are needed. Other errors: [ArgumentError], the context's, or the SDK's,
// after retries for at most 10 seconds a request; nothing is known then of what was not answered.
//
// CheckAccess does not look at the table itself: [Store.CheckTable] does.
func (s *Store) CheckAccess(ctx context.Context, access Access) error {
	if err := access.validate(); err != nil {
		return s.explain(err, "check access")
	}
	list := s.probes(access)
	errs := make([]error, len(list))
	_ = rowstore.Parallel(len(list), probesInFlight, func(i int) error {
		errs[i] = s.prove(ctx, list[i])
		return nil
	})
	return s.explain(joined(errs), "check access")
}

// prove sends one probe. That its condition does not hold shows that it was allowed.
func (s *Store) prove(ctx context.Context, p probe) error {
	_, err := s.rows.Repeat(ctx, s.rows.Budget(0), s.rows.Timeout(0), p.send)
	switch {
	case err == nil, request.Classify(err) == request.Refused:
		return nil
	case request.Denied(err):
		return &SetupError{s.rows.Name, fmt.Sprintf("these credentials may not %s, which the program needs %s", p.what(), strings.Join(p.purposes, ", and ")),
			"grant dynamodb:" + p.action + p.where(), err}
	}
	return s.setup(fmt.Errorf("%s: %w", p.what(), err))
}

// joined joins all that is missing. Of the other failures, which may all be the same one, it takes
// the first.
func joined(errs []error) error {
	var missing, other error
	for _, err := range errs {
		var setup *SetupError
		switch {
		case errors.As(err, &setup) && request.Denied(err):
			missing = errors.Join(missing, err)
		case other == nil:
			other = err
		}
	}
	return errors.Join(missing, other)
}
