package command

import (
	"io"
	"testing"

	"github.com/startrace/startrace/internal/session"
)

// BenchmarkList is `startrace list -v`, from the reading of the kernel's types on.
func BenchmarkList(b *testing.B) {
	for _, pattern := range []string{"*", "kprobe:*", "func:*", "tracepoint:*"} {
		b.Run(pattern, func(b *testing.B) {
			for b.Loop() {
				o := session.Options{Stdout: io.Discard, Stderr: io.Discard}
				o.Args, o.Verbose = []string{pattern}, true
				if _, err := List(o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
