package iamproxy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// leadingKeys is the only known condition key. Its values are the partition keys that a request
// names.
const leadingKeys = "dynamodb:LeadingKeys"

// Keys is a condition on the partition keys that a request names: each of them must match one of
// the Patterns.
type Keys struct {
	Patterns []string
	Like     bool // '*' and '?' in patterns are wildcards
	Required bool // there must be a key; if false, a request without a key passes
}

// parseCondition reads a condition. It knows the operators ForAllValues:StringEquals,
// ForAllValues:StringLike and Null.
func parseCondition(value json.RawMessage) (*Keys, error) {
	var operators map[string]map[string]json.RawMessage
	if err := json.Unmarshal(value, &operators); err != nil {
		return nil, err
	}
	keys := &Keys{}
	for operator, on := range operators {
		operand, known := on[leadingKeys]
		if !known || len(on) != 1 {
			return nil, fmt.Errorf("%s is on something other than %s", operator, leadingKeys)
		}
		if err := keys.add(operator, operand); err != nil {
			return nil, fmt.Errorf("%s: %w", operator, err)
		}
	}
	if len(keys.Patterns) == 0 {
		return nil, fmt.Errorf("there is no comparison")
	}
	return keys, nil
}

func (k *Keys) add(operator string, operand json.RawMessage) (err error) {
	switch operator {
	case "ForAllValues:StringEquals", "ForAllValues:StringLike":
		if k.Patterns != nil {
			return fmt.Errorf("there is another comparison")
		}
		k.Like = operator == "ForAllValues:StringLike"
		k.Patterns, err = oneOrMany(operand)
	case "Null":
		var values []string
		if values, err = oneOrMany(operand); err == nil && (len(values) != 1 || values[0] != "false") {
			err = fmt.Errorf("%s is not known, only false", operand)
		}
		k.Required = true
	default:
		err = fmt.Errorf("the operator is not known")
	}
	for _, pattern := range k.Patterns {
		if _, err := k.compile(pattern); err != nil {
			return err
		}
	}
	return err
}

// match reports whether each key is allowed. It returns the index of each pattern that alone allows
// a key.
func (k *Keys) match(keys []string) (used []int, ok bool) {
	if len(keys) == 0 {
		return nil, !k.Required
	}
	for _, key := range keys {
		switch by := k.matching(key); len(by) {
		case 0:
			return nil, false
		case 1:
			used = append(used, by...)
		}
	}
	return used, true
}

func (k *Keys) matching(key string) (used []int) {
	for i, pattern := range k.Patterns {
		if re, err := k.compile(pattern); err == nil && re.MatchString(key) {
			used = append(used, i)
		}
	}
	return used
}

// special matches the parts of a pattern that have a meaning: policy variables always, and
// wildcards with Like.
var special = regexp.MustCompile(`\$\{[^}]*\}?|[*?]`)

// compile translates a pattern. It knows only those policy variables that stand for a character of
// their own.
func (k *Keys) compile(pattern string) (*regexp.Regexp, error) {
	var re strings.Builder
	var unknown error
	rest := pattern
	for at := special.FindStringIndex(rest); at != nil; at = special.FindStringIndex(rest) {
		re.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		switch token := rest[at[0]:at[1]]; {
		case token == "${$}", token == "${*}", token == "${?}":
			re.WriteString(regexp.QuoteMeta(token[2:3]))
		case strings.HasPrefix(token, "$"):
			unknown = fmt.Errorf("the policy variable %s in %q is not known", token, pattern)
		case k.Like && token == "*":
			re.WriteString(`.*`)
		case k.Like:
			re.WriteString(`.`)
		default:
			re.WriteString(regexp.QuoteMeta(token))
		}
		rest = rest[at[1]:]
	}
	re.WriteString(regexp.QuoteMeta(rest))
	if unknown != nil {
		return nil, unknown
	}
	return regexp.Compile(`(?s)\A` + re.String() + `\z`)
}
