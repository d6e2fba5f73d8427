package main

import (
	"strings"
	"testing"
	"time"

	"github.com/dynamolease/dynamolease/dynamolease"
)

// variables are an environment.
type variables map[string]string

func (v variables) get(name string) string { return v[name] }

const anARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/leases"

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		env  variables
		want settings
	}{
		"the table alone": {
			variables{tableVariable: "leases"},
			settings{table: "leases"},
		},
		"its ARN": {
			variables{tableVariable: anARN},
			settings{table: anARN},
		},
		"everything": {
			variables{tableVariable: "my.leases_v-2", graceVariable: "90m", segmentsVariable: "4", limitVariable: "500"},
			settings{"my.leases_v-2", dynamolease.ReapConfig{Grace: 90 * time.Minute, Segments: 4, Limit: 500}},
		},
		"the least": {
			variables{tableVariable: "abc", graceVariable: "0", segmentsVariable: "1", limitVariable: "1"},
			settings{"abc", dynamolease.ReapConfig{Segments: 1, Limit: 1}},
		},
		"the most": {
			variables{tableVariable: "abc", graceVariable: "8760h", segmentsVariable: "16", limitVariable: "1000000000"},
			settings{"abc", dynamolease.ReapConfig{Grace: maxGrace, Segments: maxSegments, Limit: maxLimit}},
		},
		"empty variables": {
			variables{tableVariable: "leases", graceVariable: "", segmentsVariable: "", limitVariable: ""},
			settings{table: "leases"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := readSettings(c.env.get); err != nil || got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestSettingsThatAreWrong(t *testing.T) {
	for _, c := range []struct{ variable, value, allowed string }{
		{tableVariable, "", "is not set"},
		{tableVariable, "ab", "3 to 255"},
		{tableVariable, "my table", "3 to 255"},
		{tableVariable, "arn:aws:sqs:eu-west-1:123456789012:leases", "or its ARN"},
		{tableVariable, anARN + "/index/by-owner", "or its ARN"},
		{graceVariable, "90", "such as \"90m\""},
		{graceVariable, "1d", "0s to 8760h"},
		{graceVariable, "-1s", "0s to 8760h"},
		{graceVariable, "8760h0m1s", "0s to 8760h"},
		{segmentsVariable, "0", "1 to 16"},
		{segmentsVariable, "17", "1 to 16"},
		{segmentsVariable, "4.0", "1 to 16"},
		{segmentsVariable, " 4", "1 to 16"},
		{limitVariable, "0", "1 to 1000000000"},
		{limitVariable, "-5", "1 to 1000000000"},
		{limitVariable, "none", "1 to 1000000000"},
		{limitVariable, "99999999999999999999", "1 to 1000000000"},
	} {
		t.Run(c.variable+"="+c.value, func(t *testing.T) {
			env := variables{tableVariable: "leases"}
			env[c.variable] = c.value
			_, err := readSettings(env.get)
			if err == nil || !strings.HasPrefix(err.Error(), c.variable+" is ") || !strings.Contains(err.Error(), c.allowed) {
				t.Errorf("want an error that names %s and allows %s, got %v", c.variable, c.allowed, err)
			}
		})
	}
}

// All that is wrong is in one message.
func TestSettingsNameEveryProblem(t *testing.T) {
	env := variables{graceVariable: "x", segmentsVariable: "x", limitVariable: "x"}
	_, err := readSettings(env.get)
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range []string{tableVariable, graceVariable, segmentsVariable, limitVariable} {
		if n := strings.Count(err.Error(), name); n != 1 {
			t.Errorf("%s is named %d times in %v", name, n, err)
		}
	}
}

// Whatever the variables are: either something is wrong and named, or the run can be made.
func FuzzSettings(f *testing.F) {
	f.Add("leases", "90m", "4", "500")
	f.Add("", "", "", "")
	f.Add(anARN, "-1ns", "16", "1e3")
	f.Add("le\x00ases", "9223372036854775807ns", "+1", "007")
	f.Fuzz(func(t *testing.T, table, grace, segments, limit string) {
		env := variables{tableVariable: table, graceVariable: grace, segmentsVariable: segments, limitVariable: limit}
		s, err := readSettings(env.get)
		if err != nil {
			if s != (settings{}) || !strings.Contains(err.Error(), "DYNAMOLEASE_") {
				t.Errorf("got %+v with the error %v", s, err)
			}
			return
		}
		switch c := s.reap; {
		case len(s.table) < 3 || c.Grace < 0 || c.Grace > maxGrace || c.Segments < 0 || c.Segments > maxSegments || c.Limit < 0 || c.Limit > maxLimit:
			t.Errorf("%v gives %+v", env, s)
		case limit != "" && c.Limit == 0 || segments != "" && c.Segments == 0:
			t.Errorf("%v gives %+v: a value was ignored", env, s)
		}
	})
}
