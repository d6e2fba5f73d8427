package dynamolease

import (
	"fmt"
	"strings"
)

// A rowErrors is one error for several malformed rows. It wraps them all, since callers go by which they are.
type rowErrors []error

// maxNamed is how many rows the text names.
const maxNamed = 100

func (e rowErrors) Error() string {
	var lines []string
	for _, err := range e[:min(len(e), maxNamed)] {
		lines = append(lines, err.Error())
	}
	if more := len(e) - maxNamed; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func (e rowErrors) Unwrap() []error { return e }

// joined is nil where there are none.
func (e rowErrors) joined() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// A parsed row is one that was decoded, or could not be.
type parsed[R any] struct {
	row R
	key key // of one that could not
	err error
}

// tolerant decodes rows one by one: one that is malformed does not keep the others from being read.
func tolerant[R any](decodeRow func(item) (R, error)) func(item) (parsed[R], error) {
	return func(row item) (parsed[R], error) {
		found, err := decodeRow(row)
		if err != nil {
			return parsed[R]{key: decode(row).key, err: err}, nil
		}
		return parsed[R]{row: found}, nil
	}
}

// byKey finds leases by their keys, those that could not be decoded as well.
func byKey(rows []parsed[leaseRow]) map[key]parsed[leaseRow] {
	found := make(map[key]parsed[leaseRow], len(rows))
	for _, p := range rows {
		if p.err == nil {
			p.key = p.row.key
		}
		found[p.key] = p
	}
	return found
}

// sift separates the rows that could be read from the keys of those that could not, which the error names.
func sift[R any](rows []parsed[R]) (good []R, malformed map[key]bool, err error) {
	var errs rowErrors
	malformed = make(map[key]bool)
	for _, p := range rows {
		if p.err == nil {
			good = append(good, p.row)
			continue
		}
		malformed[p.key] = true
		errs = append(errs, p.err)
	}
	return good, malformed, errs.joined()
}
