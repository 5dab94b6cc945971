package kernel

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The kernel's version, and what a version can or misses (as `MissesCalls`): each a method with its commit.

// A Version is a kernel's version: Major, Minor and Patch are the numbers of 6.12.5. It is for error texts only:
// distributions carry features back, so whether a kernel has one is found by trying.
type Version struct {
	Major, Minor, Patch int
	Text                string // uname -r
}

// Release gives the version of the running kernel.
func Release() (Version, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return Version{}, fmt.Errorf("uname: %w", err)
	}
	return parseRelease(unix.ByteSliceToString(u.Release[:])), nil
}

// parseRelease reads the numbers at the start of "6.18.44-fc-v669"; what is
// missing is 0.
func parseRelease(s string) Version {
	v := Version{Text: s}
	rest := s
	for _, to := range []*int{&v.Major, &v.Minor, &v.Patch} {
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil {
			break
		}
		*to = n
		var dot bool
		if rest, dot = strings.CutPrefix(rest[len(digits):], "."); !dot {
			break
		}
	}
	return v
}

// TypesOfModules reports whether modules have types of their own (BTF, 5.11). Nothing tells but the version as long as
// none is loaded.
func (f *Facts) TypesOfModules() bool {
	v, known := f.release()
	return !known || v.AtLeast(5, 11)
}

// MissesCalls reports whether a program at sys_enter or sys_exit can miss calls
// because a task is preempted while it runs it: tracepoint programs have become
// preemptible after 6.18 (seen on 7.2, and not on 6.18), and a program that one
// task holds does not run for others on that CPU. Nothing tells but the version.
func (f *Facts) MissesCalls() bool {
	v, known := f.release()
	return known && v.AtLeast(6, 19)
}

// PointerArguments reports whether programs of trampolines may read arguments
// that point at numbers (5.17, commit bb6728d75611).
func (f *Facts) PointerArguments() bool {
	v, known := f.release()
	return !known || v.AtLeast(5, 17)
}

// StructArguments reports whether trampolines can be put at functions that take a
// struct by value, in one word (6.1, commit 720e6a435194).
func (f *Facts) StructArguments() bool {
	v, known := f.release()
	return !known || v.AtLeast(6, 1)
}

// ReturnsAsEntries reports whether links of kprobes run the programs at a return in
// the same order as those at the entry (6.14, commit 4346ba160409: fprobe keeps a list
// of what it saw begin), and not the other way round. Nothing tells but the version.
func (f *Facts) ReturnsAsEntries() bool {
	v, known := f.release()
	return !known || v.AtLeast(6, 14)
}

// AddsCaller reports whether stacks of the program at the entry of a function that makes a frame have its caller
// (amd64 from 6.11 on, commit cfa7f3d2c526).
func (f *Facts) AddsCaller() bool {
	v, known := f.release()
	return !known || v.AtLeast(6, 11)
}

// release is the version that the facts are of; that of a fixture is not known.
func (f *Facts) release() (v Version, known bool) {
	switch {
	case f.opts.Release != "":
		return parseRelease(f.opts.Release), true
	case f.opts.BTF != nil:
		return Version{}, false
	}
	v, err := Release()
	return v, err == nil
}

// AtLeast reports whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

func (v Version) String() string { return v.Text }

// Version is the version that the facts are of.
func (f *Facts) Version() (Version, error) {
	if v, known := f.release(); known {
		return v, nil
	}
	return Release()
}
