package request

import "reflect"

// Missing reports whether there is no client: client is nil, or holds a nil pointer.
func Missing(client any) bool {
	if client == nil {
		return true
	}
	v := reflect.ValueOf(client)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
