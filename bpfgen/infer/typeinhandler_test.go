package infer_test

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen/infer"
)

// A type that is made within a handler is not known when the handler is compiled: the message says where it belongs.
func TestTypesWithinHandlers(t *testing.T) {
	for _, x := range []string{`cast(struct("a", "u32"), e.args.p)`, `cast((struct("a", "u32")), e.args.p)`,
		`cast(types("struct a { int b; };"), e.args.p)`} {
		p := planOf(t, `probe("rawtracepoint:sched_wakeup", lambda e: print(`+x+`))`)
		_, err := infer.Plan(p, testFacts(t), infer.Options{})
		if err == nil || !strings.Contains(err.Error(), "declare it at the top of the script, as T = ") {
			t.Errorf("%s: %v", x, err)
		}
	}
}
