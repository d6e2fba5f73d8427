package history

import (
	"fmt"
	"reflect"
	"strings"
)

// labelled returns the fields of a struct as text, with their names. It leaves out zero fields.
func labelled(value any) string {
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Struct {
		return fmt.Sprint(value)
	}
	var list []string
	for i := range v.NumField() {
		if field := v.Field(i); !field.IsZero() {
			list = append(list, fmt.Sprintf("%s %v", v.Type().Field(i).Name, field))
		}
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}
