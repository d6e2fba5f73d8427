package rie

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"time"
)

// environment returns the variables that Lambda would set, and those of the function itself. It
// passes on nothing else of the test's environment, except PATH.
func (f Function) environment() []string {
	timeout := f.Timeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	env := map[string]string{
		"PATH":                        os.Getenv("PATH"),
		"AWS_REGION":                  "us-east-1",
		"AWS_ACCESS_KEY_ID":           "rie",
		"AWS_SECRET_ACCESS_KEY":       "rie",
		"AWS_LAMBDA_FUNCTION_TIMEOUT": strconv.Itoa(int(timeout / time.Second)),
		"AWS_LAMBDA_LOG_FORMAT":       "JSON",
	}
	maps.Copy(env, f.Env)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}
