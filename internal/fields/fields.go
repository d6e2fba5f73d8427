// Package fields finds the fields of JSON documents, and those that a document for people names, for tests that hold the two
// together.
package fields

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Fields are the kinds of fields by their paths, such as "holds[].group": "number", "string", "time" (a string, RFC 3339),
// "boolean", "array" (an empty one) or "null". Arrays and objects themselves are left out.
type Fields map[string]string

// Of is the fields of a JSON document.
func Of(document []byte) (Fields, error) {
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	found := make(Fields)
	found.collect("", value)
	return found, nil
}

// OfType is the fields that a value of T is encoded with when none is left out.
func OfType[T any]() (Fields, error) {
	value := new(T)
	fill(reflect.ValueOf(value).Elem())
	document, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return Of(document)
}

func (f Fields) collect(path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			f.collect(strings.TrimPrefix(path+"."+name, "."), inner)
		}
	case []any:
		if len(v) == 0 {
			f[path] = "array"
		}
		for _, inner := range v {
			f.collect(path+"[]", inner)
		}
	case string:
		if _, err := time.Parse(time.RFC3339Nano, v); err == nil {
			f[path] = "time"
		} else {
			f[path] = "string"
		}
	case float64:
		f[path] = "number"
	case bool:
		f[path] = "boolean"
	default:
		f[path] = "null"
	}
}

// fill sets all that can be set.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1_800_000_000, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint64:
		v.SetUint(1)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	}
}

// Differences are the fields that are documented and not found, and the other way round, or that are of another kind. Those
// that are documented as "name.*" have any name.
func (f Fields) Differences(documented Fields) []string {
	list := f.Undocumented(documented)
	for _, path := range slices.Sorted(maps.Keys(documented)) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(f)), func(found string) bool { return matches(path, found) }) {
			list = append(list, path+" is documented, and there is none")
		}
	}
	return list
}

// Undocumented are the fields that are not documented, or as another kind.
func (f Fields) Undocumented(documented Fields) []string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(f)) {
		kind, ok := documented.lookup(path)
		switch {
		case f[path] == "array" && documented.has(path+"[]"): // an empty one
		case !ok:
			list = append(list, path+" is not documented")
		case kind != f[path]:
			list = append(list, fmt.Sprintf("%s is documented as %s, and is a %s", path, kind, f[path]))
		}
	}
	return list
}

func (f Fields) has(prefix string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(f)), func(path string) bool { return strings.HasPrefix(path, prefix) })
}

func (f Fields) lookup(path string) (kind string, ok bool) {
	for documented, kind := range f {
		if matches(documented, path) {
			return kind, true
		}
	}
	return "", false
}

func matches(documented, path string) bool {
	prefix, ok := strings.CutSuffix(documented, "*")
	return documented == path || ok && strings.HasPrefix(path, prefix)
}
