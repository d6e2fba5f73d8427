package dynamolease

import "errors"

// maxNamed is how many malformed rows one error names.
const maxNamed = 100

// A parsed row is one that was decoded, or could not be.
type parsed[R any] struct {
	row R
	key key
	err error
}

// tolerant decodes rows one by one: one that is malformed does not keep the others from being read.
func tolerant[R any](decodeRow func(item) (R, error)) func(item) (parsed[R], error) {
	return func(row item) (parsed[R], error) {
		found, err := decodeRow(row)
		return parsed[R]{found, decode(row).key, err}, nil
	}
}

// sift separates the rows that could be read from the keys of those that could not, which the error names.
func sift[R any](rows []parsed[R]) (good []R, malformed map[key]bool, err error) {
	var errs []error
	malformed = make(map[key]bool)
	for _, p := range rows {
		if p.err == nil {
			good = append(good, p.row)
			continue
		}
		malformed[p.key] = true
		if len(errs) < maxNamed {
			errs = append(errs, p.err)
		}
	}
	return good, malformed, errors.Join(errs...)
}
