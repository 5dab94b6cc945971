package mutate

import (
	"runtime"
	"strings"
)

// The functions that a panic went through.

// callers names the innermost functions of ours that a panic went through.
func callers() []string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	var out []string
	for len(out) < 8 {
		f, more := frames.Next()
		name, ours := strings.CutPrefix(f.Function, "github.com/startrace/startrace/")
		if ours && !strings.HasSuffix(name, "infer.attempt.func1") {
			out = append(out, name)
		}
		if !more {
			break
		}
	}
	return out
}
