package startrace_test

import (
	"regexp"
	"testing"
)

// A file with own calls of bpf(2) or of perf events says what the libraries lack, so that it can go when they have it.
func TestOwnCallsSayWhy(t *testing.T) {
	calls := regexp.MustCompile(`[^.]\bcall\(unix\.|\bcreateLink\(&|unix\.(Syscall|PerfEventOpen|IoctlSetInt)\(`)
	reason := regexp.MustCompile(`(?m)^// Missing in (ebpf|link): \S`)
	own := 0
	for _, f := range productFiles(t) {
		if f.folder != "internal/bpf" || !calls.MatchString(f.text) {
			continue
		}
		if own++; !reason.MatchString(f.text) {
			t.Errorf("%s: no line says what is missing in ebpf or link", f.name)
		}
	}
	if own == 0 {
		t.Error("found no own calls")
	}
}
