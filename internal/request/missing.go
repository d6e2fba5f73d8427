package request

import "reflect"

// Missing tells whether there is no client: nil, or a pointer that is, in an interface.
func Missing(client any) bool {
	if client == nil {
		return true
	}
	v := reflect.ValueOf(client)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
