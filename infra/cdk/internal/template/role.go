package template

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Statements returns the policy statements of a role, resolved, in JSON. The role may have only
// policies of the type AWS::IAM::Policy.
func (t *Template) Statements(role string) ([]byte, error) {
	r, ok := t.Resources[role]
	if !ok || r.Type != "AWS::IAM::Role" {
		return nil, fmt.Errorf("find the policies of %s: there is no such role", role)
	}
	for property := range r.Properties {
		if property != "AssumeRolePolicyDocument" {
			return nil, fmt.Errorf("find the policies of %s: its property %s is not known", role, property)
		}
	}
	list := []any{}
	for id, policy := range t.Resources {
		if policy.Type == "AWS::IAM::ManagedPolicy" {
			return nil, fmt.Errorf("find the policies of %s: %s is a managed policy, which is not known", role, id)
		}
		if policy.Type != "AWS::IAM::Policy" || !t.attached(policy, role) {
			continue
		}
		document, _ := policy.Properties["PolicyDocument"].(map[string]any)
		statements, ok := document["Statement"].([]any)
		if !ok {
			return nil, fmt.Errorf("find the policies of %s: %s has no statements", role, id)
		}
		resolved, err := t.Resolve(statements)
		if err != nil {
			return nil, fmt.Errorf("find the policies of %s: %w", role, err)
		}
		list = append(list, resolved.([]any)...)
	}
	return json.Marshal(list)
}

func (t *Template) attached(policy Resource, role string) bool {
	roles, _ := policy.Properties["Roles"].([]any)
	return slices.ContainsFunc(roles, func(r any) bool {
		ref, _ := r.(map[string]any)
		return ref["Ref"] == role
	})
}
