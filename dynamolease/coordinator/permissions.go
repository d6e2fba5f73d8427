package coordinator

import "time"

// permissions is what a node knows of the permissions that it needs.
type permissions struct {
	proving bool      // a check is under way
	proved  bool      // all are there
	missing error     // what the latest check found to be missing
	since   time.Time // when the first one did; zero if nothing is missing
	again   time.Time // not before this the next one
}
