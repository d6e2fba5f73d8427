package rowstore

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A Parsed is a row that was decoded, or the error of one that could not be.
type Parsed[R any] struct {
	Key Key
	Row R
	Err error
}

// Tolerant decodes rows one by one: a malformed one does not keep the others from being read.
func Tolerant[R any](decode func(Item) (R, error)) func(Item) (Parsed[R], error) {
	return func(item Item) (Parsed[R], error) {
		found, err := decode(item)
		return Parsed[R]{Key: keyOf(item), Row: found, Err: err}, nil
	}
}

func keyOf(item Item) Key {
	text := func(name string) string {
		s, _ := item[name].(*types.AttributeValueMemberS)
		if s == nil {
			return ""
		}
		return s.Value
	}
	return Key{text(AttrPK), text(AttrSK)}
}

// ByKey finds rows by their keys, those that could not be decoded as well.
func ByKey[R any](rows []Parsed[R]) map[Key]Parsed[R] {
	found := make(map[Key]Parsed[R], len(rows))
	for _, p := range rows {
		found[p.Key] = p
	}
	return found
}

// Sift separates the rows that could be decoded from the keys of those that could not, which the
// error names.
func Sift[R any](rows []Parsed[R]) (good []R, malformed map[Key]bool, err error) {
	var errs Malformed
	malformed = make(map[Key]bool)
	for _, p := range rows {
		if p.Err == nil {
			good = append(good, p.Row)
			continue
		}
		malformed[p.Key] = true
		errs = append(errs, p.Err)
	}
	return good, malformed, errs.Joined()
}

// A Malformed is one error for several malformed rows. It wraps them all, since callers ask which
// rows they are.
type Malformed []error

// maxNamed is how many rows the text names.
const maxNamed = 100

func (e Malformed) Error() string {
	var lines []string
	for _, err := range e[:min(len(e), maxNamed)] {
		lines = append(lines, err.Error())
	}
	if more := len(e) - maxNamed; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func (e Malformed) Unwrap() []error { return e }

// Joined returns the error; nil where there is no malformed row.
func (e Malformed) Joined() error {
	if len(e) == 0 {
		return nil
	}
	return e
}
