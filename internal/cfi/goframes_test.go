package cfi_test

import (
	"testing"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/wire"
)

// TestGoFrames: a program of Go that was linked without .debug_frame, or stripped, has the rules of the same program
// with it, at each place of its functions.
func TestGoFrames(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		for _, mode := range []string{"-buildmode=exe", "-buildmode=pie"} {
			whole := opened(t, builtGo(t, arch, mode))
			want, err := cfi.Rows(whole)
			if err != nil {
				t.Fatal(err)
			}
			golang, _ := whole.Golang()
			for _, flags := range []string{"-ldflags=-w", "-ldflags=-s -w"} {
				got, err := cfi.Rows(opened(t, builtGo(t, arch, mode, flags)))
				if err != nil {
					t.Fatal(err)
				}
				compared, wrong := 0, 0
				for addr := golang.Start; addr < golang.End; addr++ {
					has, wants := ruleAt(got, addr), ruleAt(want, addr)
					if wants == wire.UnwindUnfollowed { // which debug information alone tells
						wants = wire.UnwindNone
					}
					if compared++; has == wants {
						continue
					}
					if wrong++; wrong < 5 {
						t.Errorf("%s %s %s %#x: got %s, want %s", arch, mode, flags, addr,
							shown(whole.Machine, []cfi.Row{{Rule: has}}),
							shown(whole.Machine, []cfi.Row{{Rule: wants}}))
					}
				}
				if compared < 100_000 || wrong > 0 || signals(got) != signals(want) {
					t.Errorf("%s %s %s: %d of %d differ; %d rows are frames of signals, want %d", arch, mode, flags,
						wrong, compared, signals(got), signals(want))
				}
			}
		}
	}
}
