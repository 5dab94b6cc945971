package session

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/test/need"
)

// declaredSession is a session that has run a script and has not loaded its probes.
func declaredSession(t *testing.T, out *bytes.Buffer, code ...string) (*session, *parts.Part) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to load programs")
	}
	need.BPF(t)
	o := Options{Stdout: out, Stderr: out}
	o.Code = code
	s := newSession(o)
	t.Cleanup(s.close)
	args, err := s.prepare()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.runScript(args); err != nil {
		t.Fatal(err)
	}
	return s, s.whole()
}

// TestRejectedScript: if the compiler makes a program that the kernel refuses,
// the author of the script reads where, why in plain words, and what to send;
// never what the verifier wrote. The compiler makes no such program on demand,
// so the test spoils one.
func TestRejectedScript(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s, p := declaredSession(t, &bytes.Buffer{}, "n = count()",
		"probe('rawtracepoint:sys_enter', kernel = lambda e: n[e.pid].add())")
	if _, err := s.loader.Compile(p, explain.Stages{}); err != nil {
		t.Fatal(err)
	}
	name := p.Unit.Tree.Programs[0].Name
	// At the start only R1 and R10 are set.
	p.Unit.Spec.Programs[name].Instructions[0] = asm.Mov.Reg(asm.R0, asm.R5).WithSymbol(name)
	var err error
	p.Loaded, err = attach.Load(p.Unit, attach.Options{})
	exit, err := s.finish(s.loader.NameScript(err))
	if exit != Failed || err == nil {
		t.Fatalf("exit %d, %v", exit, err)
	}
	want := regexp.MustCompile(`^-e:2:\d+: internal compiler error: the kernel refuses the code for this place: ` +
		`a value is used that was not computed on some way through the code\n` +
		`    this is a bug in startrace, not in the script; to report it, send the output of\n` +
		`        startrace explain --asm -e CODE\n` +
		`    and the file\n        \S+/startrace-verifier-\d+\.log$`)
	if !want.MatchString(err.Error()) {
		t.Errorf("the message is\n%s", err)
	}
}
