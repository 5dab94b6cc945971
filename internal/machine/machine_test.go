package machine_test

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/point"
	"github.com/startrace/startrace/test/smallkernel"
)

// small is a machine with a kernel of fixed content, and without tracefs.
func small(t *testing.T) *machine.Machine {
	t.Helper()
	states := &btf.Enum{Name: "states", Size: 4, Values: []btf.EnumValue{{Name: "TCP_OPEN", Value: 3},
		{Name: "open", Value: 4}}}
	m := machine.Of(kernel.Options{BTF: smallkernel.BTF(t, append(smallkernel.Types(), states)...),
		TracefsPath: t.TempDir(),
		Tracepoints: func(_ *kernel.Facts, group, _ string) (found []kernel.TracepointName, err error) {
			for _, name := range []string{"sched_switch", "sched_wakeup"} {
				if strings.HasPrefix(group, "sc") {
					found = append(found, kernel.TracepointName{Group: "sched", Name: name})
				}
			}
			return found, nil
		}})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// A name that a script does not define is looked for among the kernel's enums only where it is spelt as a constant.
func TestConstant(t *testing.T) {
	m := small(t)
	for name, want := range map[string]int64{"TCP_OPEN": 3, "open": -1, "EPERM": 1, "TCP_NOTHING": -1, "_OPEN": -1} {
		v, ok := m.Constant(name)
		if ok != (want >= 0) || ok && v != want {
			t.Errorf("%s: got %d, %v; want %d, -1 for none", name, v, ok, want)
		}
	}
	if v, ok := m.EnumValue("open"); !ok || v != 4 {
		t.Errorf("the enumerator open is %d, %v", v, ok)
	}
}

// Types and functions are those of the kernel's own description; without one nothing is known.
func TestTypes(t *testing.T) {
	m := small(t)
	if n, ok, _ := m.SizeOf("struct mm_struct"); !ok || n != 16 {
		t.Errorf("struct mm_struct has %d bytes, %v; want 16", n, ok)
	}
	if id, err := m.FuncID("set_user_nice"); err != nil || id == 0 {
		t.Errorf("set_user_nice is type %d, %v", id, err)
	}
	const want = "the kernel's BTF has no function nothing"
	if _, err := m.FuncID("nothing"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	none := machine.Of(kernel.Options{BTFPath: t.TempDir() + "/none"})
	_, constant := none.EnumValue("TCP_OPEN")
	_, size, _ := none.SizeOf("struct mm_struct")
	_, number := none.Number("unsigned int")
	if _, err := none.FuncID("set_user_nice"); err == nil || constant || size || number ||
		none.Enumerators("states") != nil {
		t.Errorf("a kernel without types has a constant %v, a size %v, a number %v, and a function: %v", constant, size,
			number, err)
	}
}

// A device that is no number of one keeps its number, and the name of another is looked for once.
func TestDevice(t *testing.T) {
	m := small(t)
	if got, want := m.Device(1<<32|7), "0x100000007"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if first, again := m.Device(0xfff00001), m.Device(0xfff00001); first == "" || first != again {
		t.Errorf("got %q, then %q", first, again)
	}
}

// A point is completed field by field.
func TestPointWords(t *testing.T) {
	m := small(t)
	words, _ := m.PointWords("sys")
	for _, kind := range point.Kinds() {
		if !slices.Contains(words, kind.Name+":") {
			t.Errorf("no kind %s among %q", kind.Name, words)
		}
	}
	for _, test := range []struct {
		typed        string
		words, shown []string
	}{
		{"syscall:getcw", []string{"syscall:getcwd"}, nil},
		{"syscall:getcw*", nil, []string{"syscall:getcwd"}},
		{"sc:getcw", []string{"sc:getcwd"}, nil}, // a short name stays as it is typed
		{"nothing:x", nil, nil},
		{"tracepoint:sc", []string{"tracepoint:sched:"}, nil}, // once, and no further than the next field
		{"t:sched:", []string{"t:sched:sched_switch", "t:sched:sched_wakeup"}, nil},
		{"iter:task_f", []string{"iter:task_file"}, nil},
	} {
		words, shown := m.PointWords(test.typed)
		if !slices.Equal(words, test.words) || !slices.Equal(shown, test.shown) {
			t.Errorf("%s: got %q and %q, want %q and %q", test.typed, words, shown, test.words, test.shown)
		}
	}
}

// The file in a point is completed to folders, and to files with code.
func TestProgramWords(t *testing.T) {
	m, folder := small(t), t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "problems"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"prog": elf.ELFMAG, "proto.star": "x = 1", "pr": "",
		".private": elf.ELFMAG, "other": elf.ELFMAG, "problems/x": elf.ELFMAG} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for typed, ends := range map[string][]string{
		"/pr":        {"/problems/", "/prog:"},
		"/problems/": {"/problems/x:"},
		"/.p":        {"/.private:"},
		"/":          {"/other:", "/problems/", "/prog:"},
		"/nothing":   nil,
		"/none/x":    nil,
	} {
		for _, kind := range []string{"uprobe:", "ur:", "usdt:"} {
			var want []string
			for _, end := range ends {
				want = append(want, kind+folder+end)
			}
			words, shown := m.PointWords(kind + folder + typed)
			if !slices.Equal(words, want) || shown != nil {
				t.Errorf("%s…%s: got %q and %q, want %q", kind, typed, words, shown, want)
			}
		}
	}
}

// The fields of an event are those of its points, behind each of which the members of its struct are.
func TestFieldWords(t *testing.T) {
	m := small(t)
	if got := m.FieldWords(nil, nil); !slices.Equal(got, infer.EventFields()) {
		t.Errorf("e. has %q", got)
	}
	points := []string{"rawtracepoint:sched_switch"}
	for _, test := range []struct {
		path  string
		wants []string
	}{
		{"args", []string{"prev", "next", "prev_state"}},
		{"args prev", []string{"pid", "comm", "mm"}},
		{"args prev mm", []string{"owner"}},
		{"start args prev mm", []string{"owner"}},
		{"task mm", []string{"owner"}},
		{"task", []string{"exit_code", "exit_word"}}, // members of a union without a name
		{"args prev_state", nil},
		{"args nothing", nil},
		{"pid", nil},
	} {
		got := m.FieldWords(points, strings.Fields(test.path))
		for _, want := range test.wants {
			if !slices.Contains(got, want) {
				t.Errorf("e %s: no %s among %q", test.path, want, got)
			}
		}
		if test.wants == nil && len(got) > 0 {
			t.Errorf("e %s has %q, want nothing", test.path, got)
		}
	}
}

// What a pattern finds is printed, and where it finds nothing that is said beside the output.
func TestList(t *testing.T) {
	for _, test := range []struct {
		pattern, printed, said string
		found                  bool
	}{
		{"syscall:getcwd", "syscall:getcwd\n", "", true},
		{"syscall:nothing", "", "startrace: nothing matches syscall:nothing", false},
	} {
		var out, said bytes.Buffer
		to := output.New(&out)
		found, err := small(t).List(to, test.pattern, false, &output.Messages{W: &said})
		to.Flush()
		if err != nil || found != test.found || out.String() != test.printed ||
			!strings.HasPrefix(said.String(), test.said) || test.said == "" && said.Len() > 0 {
			t.Errorf("%s: found %v, %v, printed %q, said %q", test.pattern, found, err, out.String(), said.String())
		}
	}
}

// Points without a file mean the process that is traced, or else the program that is started.
func TestProgramTraced(t *testing.T) {
	started, followed := small(t), small(t)
	started.Trace(0, "/bin/true")
	if got := started.Programs().Program; got != "/bin/true" {
		t.Errorf("got %s, want the program that is started", got)
	}
	followed.Trace(os.Getpid(), "")
	if got, want := followed.Programs().Program, fmt.Sprintf("/proc/%d/exe", os.Getpid()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !followed.Listing().Traced || small(t).Listing().Traced {
		t.Error("points of the traced program are listed where there is one, and nowhere else")
	}
}

// What the verifier says is no lack of rights, and no failure has no cause.
func TestWithCause(t *testing.T) {
	m := small(t)
	if err := m.WithCause(nil); err != nil {
		t.Errorf("got %v of nothing", err)
	}
	rejected := fmt.Errorf("load: %w", &attach.VerifierError{})
	if err := m.WithCause(rejected); !errors.Is(err, rejected) || err != rejected {
		t.Errorf("got %v, want the verifier's error as it is", err)
	}
}
