package history

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// A rowKey is the primary key of a row.
type rowKey struct{ pk, sk string }

func (k rowKey) String() string { return k.pk + " / " + k.sk }

func leaseRowKey(group string, partition int) rowKey {
	return rowKey{"L#" + group, fmt.Sprintf("P#%010d", partition)}
}

// A row holds the attributes of a row in the form in which the server sends them. It is nil if the
// row does not exist.
type row map[string]value

// A value is one attribute.
type value struct {
	S    *string          `json:",omitempty"`
	N    *string          `json:",omitempty"`
	B    []byte           `json:",omitempty"`
	BOOL *bool            `json:",omitempty"`
	L    []value          `json:",omitempty"`
	M    map[string]value `json:",omitempty"`
}

func textValue(s string) value { return value{S: &s} }

// text returns a string attribute, or "" if it is missing.
func (r row) text(name string) string {
	if v := r[name]; v.S != nil {
		return *v.S
	}
	return ""
}

// number returns a whole number, or 0 if it is missing.
func (r row) number(name string) int64 {
	v := r[name]
	if v.N == nil {
		return 0
	}
	n, _ := strconv.ParseInt(*v.N, 10, 64)
	return n
}

// texts returns a list of strings.
func (r row) texts(name string) []string {
	var list []string
	for _, v := range r[name].L {
		if v.S != nil {
			list = append(list, *v.S)
		}
	}
	return list
}

func (r row) flag(name string) bool { v := r[name].BOOL; return v != nil && *v }

func (r row) key() rowKey { return rowKey{r.text("pk"), r.text("sk")} }

func (r row) checkpoint() string { return string(r["checkpoint"].B) }

func (r row) String() string {
	if r == nil {
		return "no row"
	}
	text, _ := json.Marshal(r)
	return string(text)
}

// session returns the key of the session's row to which a lease's row refers. It is zero for none.
func (r row) session() rowKey {
	if r.text("session") == "" {
		return rowKey{}
	}
	return rowKey{"M#" + r.text("service"), "N#" + r.text("session")}
}
