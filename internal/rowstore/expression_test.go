package rowstore

import (
	"testing"
)

func TestExpression(t *testing.T) {
	set := []Attribute{{"rev", Text("r2")}, {"owner", nil}, {"exp", Number[int64](5)}, {"ttl", nil}}
	for _, tc := range []struct {
		name                  string
		attributes            []Attribute
		condition             Condition
		update, wantCondition string
		values                int
	}{
		{
			name: "of a row as it was seen", attributes: set, condition: Condition{Revs: []string{"r1", "r0"}},
			update: "SET #rev = :rev, #exp = :exp REMOVE #owner, #ttl", wantCondition: "#rev IN (:seen_rev0, :seen_rev1)", values: 4,
		},
		{
			name: "of a row that is not there", attributes: set, condition: Condition{Revs: []string{""}},
			update: "SET #rev = :rev, #exp = :exp REMOVE #owner, #ttl", wantCondition: "attribute_not_exists(#pk)", values: 2,
		},
		{
			name: "of a row that may have been written", condition: Condition{Revs: []string{"", "r1"}},
			wantCondition: "(attribute_not_exists(#pk) OR #rev IN (:seen_rev1))", values: 1,
		},
		{
			name:          "of exactly these attributes",
			condition:     Condition{Revs: []string{"", "r1"}, Exists: true, Equal: []Attribute{{"owner", Text("a")}, {"ttl", nil}}},
			wantCondition: "(attribute_not_exists(#pk) OR #rev IN (:seen_rev1)) AND attribute_exists(#pk) AND #owner = :seen_owner AND attribute_not_exists(#ttl)",
			values:        2,
		},
		{
			name:          "of one of several texts",
			condition:     Condition{AnyOf: Choice{"work", []string{"", "w1", "w2"}}},
			wantCondition: "(attribute_not_exists(#work) OR #work IN (:seen_work1, :seen_work2))", values: 2,
		},
		{name: "without a condition", attributes: set[1:2], update: "REMOVE #owner"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := newExpression(tc.attributes, tc.condition)
			if e.update != tc.update || e.condition != tc.wantCondition || len(e.values) != tc.values {
				t.Errorf("%+v", e)
			}
			if e.values != nil && len(e.values) == 0 {
				t.Error("an empty map, which DynamoDB refuses")
			}
		})
	}
}

// A decoder takes no attribute for another, and names the first that is wrong.
func TestDecoderIsStrict(t *testing.T) {
	for text, read := range map[string]func(*Decoder){
		"":           func(d *Decoder) { d.Text("a") },
		"a S \n":     func(d *Decoder) { d.Text("a") },
		"a N 1\n":    func(d *Decoder) { d.Text("a") },
		"a S 1\n":    func(d *Decoder) { d.Positive("a") },
		"a N 0\n":    func(d *Decoder) { d.Positive("a") },
		"a N -1\n":   func(d *Decoder) { d.Positive("a") },
		"a N 1.5\n":  func(d *Decoder) { d.Positive("a") },
		"a N 8\n":    func(d *Decoder) { d.UpTo("a", 7) },
		"a S x\n":    func(d *Decoder) { d.Bytes("a") },
		"a SS x,y\n": func(d *Decoder) { d.Texts("a") },
		"a S true\n": func(d *Decoder) { d.Mark("a") },
		"a NULL\n":   func(d *Decoder) { d.Map("a") },
		"b S x\n":    func(d *Decoder) { d.Only("a", AttrPK, AttrSK) },
	} {
		d := Decode(item("pk S p\nsk S s\n"+text), malformedRow)
		if d.Err != nil {
			t.Fatal(d.Err)
		}
		if read(d); d.Err == nil {
			t.Errorf("%q is read", text)
		}
	}
	d := Decode(item("pk S p\nsk S s\na.b N 1\n"), malformedRow)
	inner := d.Map("a")
	inner.Text("b")
	if d.Join(inner); d.Err == nil || d.Err.Error() != "{p s}: a.b is not a string" {
		t.Errorf("the error of an attribute in a map is %v", d.Err)
	}
}
