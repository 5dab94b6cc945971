package accept

import (
	"fmt"
	"strings"
	"testing"
)

// A handler that computes with the result of any system call ends at exit_group, which has none, and works at the
// others. It does so in both halves; a test of where= only does not hold there, without a word.
func TestCallsWithoutResult(t *testing.T) {
	needTracing(t)
	const handler = "seen, failed = [], table()\ndef h(e):\n    %s\n    if %s:\n        failed[e.func] = 1\n" +
		"probe('syscall:*', h, where = lambda e: e.func in ('openat', 'exit_group')%s)\n" +
		"at_exit(lambda: print(failed.keys()))\n"
	const kernelEnd, userEnd = "1 event of syscall:* ended early: None where an int was wanted", "None < int"
	for _, tt := range []struct{ first, test, where, said string }{
		{"pass", "e.ret < 0", "", kernelEnd},
		{"pass", "e.ret + 1 <= 0", "", kernelEnd},
		{"pass", "e.ret != None and e.ret < 0", "", ""},
		{"seen.append(e.func)", "e.ret < 0", "", userEnd},
		{"seen.append(e.func)", "e.ret != None and e.ret < 0", "", ""},
		{"pass", "True", " and e.ret < 0", ""},
	} {
		e := startrace(t, script(t, fmt.Sprintf(handler, tt.first, tt.test, tt.where)), "-c",
			"cat /nonexistent/file")
		ends := strings.Contains(e.stderr, tt.said) && strings.Contains(e.stderr, "None") == (tt.said != "")
		if strings.TrimSpace(e.stdout) != `["openat"]` || !ends {
			t.Errorf("%s, %s%s: got %s%s", tt.first, tt.test, tt.where, e.stdout, e.stderr)
		}
	}
	alone := handler[:strings.Index(handler, "'syscall:*'")] + "'syscall:exit_group', h)\n"
	e := startrace(t, script(t, fmt.Sprintf(alone, "pass", "e.ret < 0")), "-c", "true")
	if !strings.Contains(e.stderr, "this is None, and an int is wanted") {
		t.Errorf("a probe of exit_group alone: got %s%s", e.stdout, e.stderr)
	}
}
