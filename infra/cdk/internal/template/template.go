// Package template reads synthesized CloudFormation templates, for tests that apply them. It fails
// on everything that it does not know.
package template

import (
	"encoding/json"
	"fmt"
)

// A Template is a synthesized stack. It is not safe for concurrent use.
type Template struct {
	Resources map[string]Resource
	names     map[string]string // what Ref stands for
	arns      map[string]string // what Fn::GetAtt Arn stands for
}

// A Resource is one resource, with references unresolved.
type Resource struct {
	Type       string
	Properties map[string]any
}

// Parse reads a template in JSON.
func Parse(text []byte) (*Template, error) {
	t := &Template{names: make(map[string]string), arns: make(map[string]string)}
	if err := json.Unmarshal(text, t); err != nil {
		return nil, fmt.Errorf("parse template: %w", err)
	}
	return t, nil
}

// Only finds the one resource of a type.
func (t *Template) Only(kind string) (id string, r Resource, err error) {
	for candidate, resource := range t.Resources {
		if resource.Type != kind {
			continue
		}
		if id != "" {
			return "", Resource{}, fmt.Errorf("find the %s: there are %s and %s", kind, id, candidate)
		}
		id, r = candidate, resource
	}
	if id == "" {
		return "", Resource{}, fmt.Errorf("find the %s: there is none", kind)
	}
	return id, r, nil
}

// Bound returns a copy of the template in which references to a resource have the given name and
// ARN.
func (t *Template) Bound(id, name, arn string) *Template {
	return &Template{Resources: t.Resources, names: map[string]string{id: name}, arns: map[string]string{id: arn}}
}

// Resolve replaces references in a value. References to resources that are not bound become "<id>",
// or "<id.Arn>".
func (t *Template) Resolve(v any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		return t.resolveMap(v)
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			var err error
			if list[i], err = t.Resolve(element); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	return v, nil
}

func (t *Template) resolveMap(m map[string]any) (any, error) {
	if id, ok := m["Ref"].(string); ok && len(m) == 1 {
		return known(t.names, id, "<"+id+">"), nil
	}
	if list, ok := m["Fn::GetAtt"].([]any); ok && len(m) == 1 && len(list) == 2 && list[1] == "Arn" {
		id := fmt.Sprint(list[0])
		return known(t.arns, id, "<"+id+".Arn>"), nil
	}
	resolved := make(map[string]any, len(m))
	for name, element := range m {
		if len(name) > 4 && name[:4] == "Fn::" {
			return nil, fmt.Errorf("resolve %v: %s is not known", m, name)
		}
		var err error
		if resolved[name], err = t.Resolve(element); err != nil {
			return nil, err
		}
	}
	return resolved, nil
}

func known(values map[string]string, id, otherwise string) string {
	if value, ok := values[id]; ok {
		return value
	}
	return otherwise
}
