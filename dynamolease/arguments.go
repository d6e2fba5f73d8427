package dynamolease

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

const (
	// MinTTL is the shortest ttl that a store accepts. If a ttl is below about 3 seconds, a few
	// lost responses in a row cost a lease.
	MinTTL = time.Second

	// MaxTTL is the longest ttl that a store accepts.
	MaxTTL = 365 * 24 * time.Hour
)

// checkName accepts a name that can be part of a key: 1 to 255 bytes of valid UTF-8. (On the way
// to the table, other bytes would be replaced, and two names would become one.)
func checkName(argument, value string) error {
	switch {
	case value == "":
		return &ArgumentError{argument, "must not be empty"}
	case len(value) > maxNameLength:
		return &ArgumentError{argument, fmt.Sprintf("has %d bytes, at most %d are allowed", len(value), maxNameLength)}
	case !utf8.ValidString(value):
		return &ArgumentError{argument, "must be valid UTF-8"}
	}
	return nil
}

// checkNode is checkName, but refuses '#', which separates a node from its session in the table's
// keys.
func checkNode(argument, value string) error {
	if err := checkName(argument, value); err != nil {
		return err
	}
	if slices.Contains([]byte(value), '#') {
		return &ArgumentError{argument, "must not contain '#'"}
	}
	return nil
}

func checkPartition(argument string, partition int) error {
	if partition < 0 || int64(partition) > maxPartition {
		return &ArgumentError{argument, fmt.Sprintf("%d is out of range, 0 to %d are allowed", partition, int64(maxPartition))}
	}
	return nil
}

func checkTTL(ttl time.Duration) error {
	if ttl < MinTTL || ttl > MaxTTL {
		return &ArgumentError{"ttl", fmt.Sprintf("%v is out of range, %v to a year (%.0fh) is allowed", ttl, MinTTL, MaxTTL.Hours())}
	}
	return nil
}

func checkGroups(argument string, groups []string) error {
	if len(groups) > maxGroupsTotal {
		return &ArgumentError{argument, fmt.Sprintf("has %d entries, at most %d are allowed", len(groups), maxGroupsTotal)}
	}
	for i, group := range groups {
		if err := checkName(fmt.Sprintf("%s[%d]", argument, i), group); err != nil {
			return err
		}
	}
	return nil
}

// sortedSet returns the list sorted, each once.
func sortedSet(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// checkLease checks the arguments that name one lease.
func checkLease(group string, partition int, owner string) error {
	return firstError(checkName("group", group), checkPartition("partition", partition), checkName("owner", owner))
}

func checkEpoch(epoch int64) error {
	if epoch <= 0 {
		return &ArgumentError{"epoch", fmt.Sprintf("%d is out of range: use the epoch of the lease that you want to revoke, above 0", epoch)}
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
