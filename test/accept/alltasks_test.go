package accept

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// threadsOf are the numbers of all threads that /proc has.
func threadsOf(t *testing.T) (list []string) {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d threads in /proc: %v", len(folders), err)
	}
	for _, f := range folders {
		list = append(list, filepath.Base(f))
	}
	return list
}

// The list of tasks has each thread of the machine once, from the first process on. (A machine can hide processes from
// programs of the kernel by a patch of its own, so this looks at guests.)
//
// > | `iter:NAME` | `it` | each entry of a list of the kernel's, once |
func TestAllTasks(t *testing.T) {
	needGuest(t)
	needIterator(t, "task")
	before := threadsOf(t)
	got := iterated(t, `probe("iter:task", lambda e: print(e.tid))`)
	after := threadsOf(t)
	for _, tid := range before {
		if slices.Contains(after, tid) && !slices.Contains(got, tid) {
			t.Errorf("thread %s is not in the list", tid)
		}
	}
	if unique := slices.Compact(slices.Clone(got)); len(unique) != len(got) || !slices.Contains(got, "1") {
		t.Errorf("the list has %d lines, %d different ones: %s", len(got), len(unique), strings.Join(got, " "))
	}
}
