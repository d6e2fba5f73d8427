package iamproxy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

const service = "dynamodb:"

// A Policy is those statements of an identity that are about DynamoDB. Each of them allows
// something.
type Policy []Statement

// A Statement allows actions on tables. With Keys, it allows them only for requests with leading
// keys that match.
type Statement struct {
	Actions   []string // with the service, such as "dynamodb:GetItem"
	Resources []string // ARNs, without wildcards
	Keys      *Keys    // nil allows all rows, and requests without a key
}

// Parse reads a list of resolved policy statements in JSON. It leaves out statements that are only
// about other services. It fails on everything that this package does not know.
func Parse(statements []byte) (Policy, error) {
	var raw []map[string]json.RawMessage
	if err := json.Unmarshal(statements, &raw); err != nil {
		return nil, fmt.Errorf("parse policy statements: %w", err)
	}
	var policy Policy
	for i, elements := range raw {
		s, foreign, err := parseStatement(elements)
		if err != nil {
			return nil, fmt.Errorf("parse policy statement %d: %w", i, err)
		}
		if !foreign {
			policy = append(policy, s)
		}
	}
	return policy, nil
}

func parseStatement(elements map[string]json.RawMessage) (s Statement, foreign bool, err error) {
	var effect string
	for name, value := range elements {
		switch name {
		case "Sid":
		case "Effect":
			err = json.Unmarshal(value, &effect)
		case "Action":
			s.Actions, err = oneOrMany(value)
		case "Resource":
			s.Resources, err = oneOrMany(value)
		case "Condition":
			s.Keys, err = parseCondition(value)
		default:
			err = fmt.Errorf("the element is not known")
		}
		if err != nil {
			return s, false, fmt.Errorf("%s: %w", name, err)
		}
	}
	if effect != "Allow" {
		return s, false, fmt.Errorf("the effect %q is not known", effect)
	}
	return s, s.foreign(), s.check()
}

// foreign reports whether the statement is only about other services.
func (s Statement) foreign() bool {
	return !slices.ContainsFunc(s.Actions, func(action string) bool {
		return strings.HasPrefix(strings.ToLower(action), service) || strings.ContainsAny(prefix(action), "*?")
	})
}

func prefix(action string) string {
	name, _, found := strings.Cut(action, ":")
	if !found {
		return "*"
	}
	return name
}

// check refuses anything that must not be taken literally.
func (s Statement) check() error {
	if len(s.Actions) == 0 || len(s.Resources) == 0 {
		return fmt.Errorf("there is no Action or no Resource")
	}
	if s.foreign() {
		return nil
	}
	for _, action := range s.Actions {
		if !strings.HasPrefix(action, service) || strings.ContainsAny(action, "*?") {
			return fmt.Errorf("the action %q is not one of DynamoDB's", action)
		}
	}
	for _, resource := range s.Resources {
		if !strings.HasPrefix(resource, "arn:") || strings.ContainsAny(resource, "*?$") {
			return fmt.Errorf("the resource %q is not the ARN of one", resource)
		}
	}
	return nil
}

func oneOrMany(value json.RawMessage) ([]string, error) {
	var one string
	if json.Unmarshal(value, &one) == nil {
		return []string{one}, nil
	}
	var many []string
	err := json.Unmarshal(value, &many)
	return many, err
}
