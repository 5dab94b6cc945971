package mistake

import "testing"

// Messages with their line, a mark at the place, and what to read about it. (S4-30)
func TestWithSource(t *testing.T) {
	files := map[string]string{
		"a.star": "n = count()\nprobe(\"syscall:opennat\", lambda e: n[e.pid].add())\n" +
			"\tprint(nsecs, \"ö\", avg)\n",
		"std/late.star": "x = 1",
	}
	source := func(name string) string { return files[name] }
	for in, want := range map[string]string{
		"a.star:2:7: no system call": "a.star:2:7: no system call\n" +
			"    probe(\"syscall:opennat\", lambda e: n[e.pid].add())\n          ^ startrace doc probe",
		"a.star:1:5: bad": "a.star:1:5: bad\n    n = count()\n        ^ startrace doc count",
		"a.star:1:1: bad": "a.star:1:1: bad\n    n = count()\n    ^",
		"a.star:3:20: one\nstd/late.star:1:5:": "a.star:3:20: one\n    \tprint(nsecs, \"ö\", avg)\n" +
			"    \t                  ^ startrace doc print\nstd/late.star:1:5:",
		"std/late.star:1:5: two":            "std/late.star:1:5: two\n    x = 1\n        ^",
		"a.star:9:1: there is no such line": "a.star:9:1: there is no such line",
		"a.star:1:99: nor such a column":    "a.star:1:99: nor such a column",
		"b.star:1:1: nor such a file":       "b.star:1:1: nor such a file",
		"startrace: no place":               "startrace: no place",
		"-e:1:4: on the command line":       "-e:1:4: on the command line",
	} {
		if got := withSource(in, source); got != want {
			t.Errorf("%q:\ngot\n%s\nwant\n%s", in, got, want)
		}
	}
}

func TestSourceOf(t *testing.T) {
	if text := sourceOf("std/opensnoop.star"); len(text) < 100 {
		t.Errorf("std/opensnoop.star: %q", text)
	}
	if text := sourceOf("testdata/there-is-none.star"); text != "" {
		t.Errorf("a file that is not there: %q", text)
	}
}
