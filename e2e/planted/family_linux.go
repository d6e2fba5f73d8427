package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// killMarked kills every process that has the mark in its environment, until none is left.
func killMarked(mark string) error {
	const rounds = 10 // a process may fork just before its end; the next round finds the child
	for range rounds {
		if killOnce(mark) == 0 {
			return nil
		}
	}
	return nil
}

func killOnce(mark string) (killed int) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environments {
		environment, err := os.ReadFile(file) // fails for a process of another user, and for one that has ended
		if err != nil || !slices.ContainsFunc(bytes.Split(environment, []byte{0}), func(v []byte) bool { return string(v) == mark }) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}
