package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/session"
	"github.com/startrace/startrace/stdlib"
)

// TestToolsLoad loads every tool with every flag: alone, with a usual value and with those at its ends, and with all
// others. The kernel takes the programs of each, or the tool does not work there without the flag either, which
// TestVerifyKernels of test/accept is about. Nothing is attached.
func TestToolsLoad(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root (CAP_BPF), to load programs")
	}
	attach.RaiseMemlock()
	loads := &toolLoads{met: map[[sha256.Size]byte]bool{}}
	for _, m := range stdlib.Modules() {
		if m.Tool && (!short() || slices.Contains(largest, m.Name)) {
			t.Run(m.Name, func(t *testing.T) { loads.tool(t, m) })
		}
	}
	t.Logf("%d command lines, %d programs", loads.lines, len(loads.met))
}

// Each flag of each tool has values to try, also where the short form does not try them.
func TestValuesOfFlags(t *testing.T) {
	for _, m := range stdlib.Modules() {
		if m.Tool {
			toolWords(t, m.Name)
		}
	}
}

// short is the form in which two tools are loaded. That of all takes four minutes, and more in a guest:
// STARTRACE_LONG=1, as in make soak.
func short() bool { return testing.Short() || os.Getenv("STARTRACE_LONG") == "" }

// largest are tools with large programs. The short form loads only them, with all of their
// flags.
var largest = []string{"opensnoop", "statsnoop"}

// toolLoads loads programs, each once.
type toolLoads struct {
	lines int
	met   map[[sha256.Size]byte]bool
}

// tool tries the flags of a tool.
func (l *toolLoads) tool(t *testing.T, m stdlib.Module) {
	args := []string{m.Name}
	if m.Verb {
		args = append(args, "syscall:read")
	}
	lacks, err := l.try(args)
	if err != nil {
		t.Errorf("%q: %v", args, err)
	}
	if lacks != "" && m.Name != "lhist" {
		t.Skipf("needs what %s does: %s", m.Name, lacks)
	}
	words := toolWords(t, m.Name)
	for _, f := range words {
		if len(f) == 1 || m.Verb || short() {
			continue
		}
		for i, word := range slices.Compact(f) {
			l.check(t, append(args, word), i > 0)
		}
	}
	for _, f := range words {
		if all := append(args, f[0]); !l.excludes(all) {
			args = all
		}
	}
	if !short() {
		l.check(t, args, false)
	}
	l.check(t, append(args, everyScript...), true)
}

// everyScript are the flags of every script that make programs longer.
var everyScript = []string{fmt.Sprintf("--pid=%d,%d", os.Getpid(), os.Getppid()), "--follow", "--user=root",
	"--str-max=4096"}

// check fails where a command line does not come as far as programs that the kernel takes. mistaken is set where it may
// also be refused as a mistake, for not all flags take all values that are tried.
func (l *toolLoads) check(t *testing.T, args []string, mistaken bool) {
	t.Helper()
	lacks, err := l.try(args)
	switch {
	case err == nil && lackOfKernel.MatchString(lacks):
		t.Run(args[len(args)-1], func(t *testing.T) { t.Skipf("needs what %q does: %s", args, lacks) })
	case err != nil || lacks != "" && !(mistaken && plainMistake.MatchString(lacks)):
		t.Errorf("%q: %s%v", args, lacks, err)
	}
}

// lackOfKernel is the message about a flag that needs kprobes, on a kernel that was built without them.
var lackOfKernel = regexp.MustCompile(`this kernel has no (way to probe functions|kprobes): it was built without `)

// plainMistake are the messages about a flag's value, and about texts that have no room.
var plainMistake = regexp.MustCompile(`^--[\w-]+: got |shorten strings \(--str-max`)

// excludes reports whether a command line has flags that exclude each other.
func (l *toolLoads) excludes(args []string) bool {
	lacks, err := l.compile(args, nil)
	return err != nil || lacks != ""
}

// try compiles a command line and loads its programs. lacks is why it cannot be compiled.
func (l *toolLoads) try(args []string) (lacks string, err error) {
	l.lines++
	return l.compile(args, l.load)
}

// compile compiles a command line.
func (l *toolLoads) compile(args []string, made func(*bpfgen.Unit, attach.Options) error) (lacks string, err error) {
	o := session.Options{Own: behindFile, Args: args, Stdout: io.Discard, Stderr: io.Discard, Made: made}
	if !strings.Contains(strings.Join(args, " "), "--pid") {
		o.Command = "true"
	}
	found, err := session.Verify(o)
	if err != nil {
		return "", err
	}
	return strings.Join(found.Lacks, "; "), nil
}

// load loads the programs of a unit unless they were all loaded before.
func (l *toolLoads) load(u *bpfgen.Unit, o attach.Options) error {
	fresh := false
	for name, p := range u.Spec.Programs {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %v %v", name, p.AttachTo, p.Instructions))
		fresh = fresh || !l.met[sum]
		l.met[sum] = true
	}
	if !fresh {
		return nil
	}
	loaded, err := attach.Load(u, o)
	if err != nil {
		return err
	}
	return loaded.Close()
}

// usual are values of a kind to try: a usual one, and those at the ends.
var usual = map[string][]string{
	"INT":        {"7", "0"},
	"DURATION":   {"5ms", "0"},
	"FSTYPE":     {"proc", strings.Repeat("n", 31)},
	"DISKNAME":   {"sda", strings.Repeat("n", 31)},
	"SIG":        {"TERM", "64"},
	"EXPRESSION": {"(e.comm, e.args.fd)"},
	"VALUE":      {"c", strings.Repeat("n", 15)},
}

// usualOf are those of flags that take only some values of their kind, or none that changes a program: these are tried
// only with all others.
var usualOf = map[string][]string{
	"every": {"1s"}, "frames": {"127"}, "functions": {"main*"}, "hi": {"100"}, "interval": {"1s"}, "library": {"c"},
	"milliseconds": {""}, "quote": {""}, "rate": {"100"}, "rows": {"7"}, "sample": {"1/1000", "1/1"},
	"shell": {"/bin/bash"}, "sort": {"sent"}, "sub": {"6"}, "timestamp": {""}, "top": {"7"}, "unit": {"ns"},
	"where": {"e.ret < 0"},
}

var ownFlag = regexp.MustCompile(`(?m)^ +(?:-\w, +)?--([\w-]+)(?: ([a-zA-Z|]+))? `)

// toolWords are the flags of a tool as words of the command line, of each with the values to try, a usual one first.
func toolWords(t *testing.T, tool string) (words [][]string) {
	t.Helper()
	for _, m := range ownFlag.FindAllStringSubmatch(ownHelp(t, tool), -1) {
		name, kind := m[1], m[2]
		values := usual[kind]
		if of := usualOf[name]; of != nil {
			values = of
		} else if kind == "" {
			values = []string{"", ""}
		} else if strings.Contains(kind, "|") {
			values = strings.Split(kind, "|")
		}
		if len(values) == 0 {
			t.Errorf("%s --%s: no values of %s to try", tool, name, kind)
			continue
		}
		words = append(words, withFlag(name, values))
	}
	return words
}

func withFlag(name string, values []string) (words []string) {
	for _, v := range values {
		words = append(words, strings.TrimSuffix("--"+name+"="+v, "="))
	}
	return words
}
