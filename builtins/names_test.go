package builtins

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
)

// A value has the name of each constant of the family that it may be: a name is never that of a constant of another set
// alone, which begins alike.
//
// > Where constants of several sets begin alike, all that the value can be stand there: `MS_ASYNC/MS_RDONLY`; a longer
// > beginning tells them apart where they have one.
func TestNamesAreNeverOfOthers(t *testing.T) {
	e := &Env{}
	tried := 0
	for _, c := range kernel.Constants("") {
		prefix, _, found := strings.Cut(c.Name, "_")
		if !found || !isName(c.Name) {
			continue
		}
		prefix += "_"
		for _, set := range ownSets {
			if strings.HasPrefix(c.Name, set) {
				prefix = set
			}
		}
		tried++
		text := e.namesOf(prefix)(uint64(c.Val))
		got := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '|' })
		if !slices.Contains(got, c.Name) {
			t.Errorf("names(%d, %q) is %s, and %s is not among them", c.Val, prefix, text, c.Name)
		}
	}
	if tried < 2500 {
		t.Errorf("%d constants were tried", tried)
	}
}

// What is asked for by its beginning is named by that set, and what many ask for by one name.
func TestNamesOfSets(t *testing.T) {
	e := &Env{}
	for _, one := range []struct {
		v            uint64
		family, want string
	}{
		{15, "PR_", "PR_SET_NAME"}, {15, "PR_SET_", "PR_SET_NAME"}, {14, "PR_SET_MM_", "PR_SET_MM_MAP"},
		{1, "CLOCK_", "CLOCK_MONOTONIC"}, {0, "CLOCK_", "CLOCK_REALTIME"},
		{1, "MS_", "MS_ASYNC/MS_RDONLY"}, {1 | 4096, "MS_", "MS_ASYNC/MS_RDONLY|MS_BIND"},
		{2, "F_SEAL_", "F_SEAL_SHRINK"}, {2, "F_", "F_SETFD/F_UNLCK"}, {0x4000, "MSG_", "MSG_COPY/MSG_NOSIGNAL"},
		{1, "EPOLL", "EPOLLIN"}, {1, "EPOLL_CTL_", "EPOLL_CTL_ADD"}, {0x10, "PTRACE_", "PTRACE_ATTACH"},
	} {
		if got := e.namesOf(one.family)(one.v); got != one.want {
			t.Errorf("names(%d, %q) is %s, want %s", one.v, one.family, got, one.want)
		}
	}
}
