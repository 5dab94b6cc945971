package mutate

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/internal/kernel"
)

var update = flag.Bool("update", false, "rewrite the messages of the catalogue")

// TestCatalogue tries the mistakes in testdata/*.txt. Each file has chunks that a line of === ends: a comment that
// names the mistake, the script, a line of --->, and the messages that its author gets.
func TestCatalogue(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no catalogue: %v", err)
	}
	facts := smallKernel(t)
	mistakes := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		chunks := strings.Split(strings.TrimSuffix(string(text), "\n===\n"), "\n===\n")
		mistakes += len(chunks)
		for i, chunk := range chunks {
			src, want, _ := strings.Cut(chunk, "\n--->\n")
			title, _, _ := strings.Cut(src, "\n")
			t.Run(filepath.Base(file)+"/"+strings.TrimPrefix(title, "# "), func(t *testing.T) {
				got := messages(src, facts)
				if got != want && !*update {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", src, got, want)
				}
				chunks[i] = src + "\n--->\n" + got
			})
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.Join(chunks, "\n===\n")+"\n===\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if mistakes < 40 {
		t.Errorf("the catalogue has %d kinds of mistakes, want at least 40", mistakes)
	}
}

// kinds are mistakes that the catalogue must have, by the titles of their chunks. A capture that changes later is a mistake
// of a callback: TestFrozen of starlark/script.
var kinds = map[string][]string{
	"event.txt": {"an unknown field", "the event itself is stored", "the result at a start", "an unknown argument"},
	"kernel.txt": {
		"a call of user space in kernel=", "a loop without a bound", "recursion", "two kinds of keys in one table", "two kinds of values in one table",
		"a float in the kernel", "None in arithmetic", "a handler that prints and uses a table of the kernel", "too few and too many arguments of a function",
		"too few and too many arguments of builtins", "a dict and a list that the kernel half changes",
	},
	"points.txt": {"an unknown system call", "an unknown tracepoint", "a glob without a match"},
	"syntax.txt": {"a reserved word as a field"},
	"load.txt":   {"modules that load each other", "a folder", "an empty file, and one with a comment", "modules that probe, have flags and timers at their top level"},
	"user.txt":   {"unknown families of names", "a field or method that a part of the event does not have", "a field is assigned in a handler", "formats that do not fit"},
}

// TestKinds finds the mistakes that the catalogue must have, each with a message.
func TestKinds(t *testing.T) {
	for file, titles := range kinds {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, title := range titles {
			_, chunk, found := strings.Cut("\n"+string(text), "\n# "+title+"\n")
			_, message, _ := strings.Cut(chunk, "\n--->\n")
			if !found || !strings.Contains(strings.SplitN(message, "\n===", 2)[0], ".star:") {
				t.Errorf("%s has no mistake %q with a message", file, title)
			}
		}
	}
}

// messages are those for a script, as the command prints them.
func messages(src string, facts *kernel.Facts) string {
	res := Compile("t.star", unescape(src), facts)
	if res.Err == nil {
		return "no message: " + res.Stage.String()
	}
	if bad := badMessage(res.Err); bad != "" {
		return bad + ": " + res.Err.Error()
	}
	return res.Err.Error()
}

// unescape makes the characters that a text file should not have: a NUL, a byte that is not UTF-8, a tab, much of one.
func unescape(src string) string {
	return strings.NewReplacer("<NUL>", "\x00", "<FF>", "\xff", "<TAB>", "\t", "<DEEP>", strings.Repeat("(", 2000), "<LONG>", strings.Repeat("x", 1<<20)).Replace(src)
}

// smallKernel is a kernel of fixed content, so that messages are the same on every machine.
func smallKernel(t *testing.T) *kernel.Facts {
	t.Helper()
	b, err := btf.NewBuilder(smallTypes(), nil)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := b.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return kernel.Open(kernel.Options{BTF: blob, TracefsPath: "../../bpfgen/infer/testdata/tracefs"})
}

func smallTypes() []btf.Type {
	s32 := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	u32 := &btf.Int{Name: "unsigned int", Size: 4}
	u64 := &btf.Int{Name: "long unsigned int", Size: 8}
	boolean := &btf.Int{Name: "_Bool", Size: 1, Encoding: btf.Bool}
	char := &btf.Int{Name: "char", Size: 1, Encoding: btf.Signed}
	task := &btf.Struct{Name: "task_struct", Size: 64}
	ptr := &btf.Pointer{Target: task}
	mm := &btf.Struct{Name: "mm_struct", Size: 16, Members: []btf.Member{{Name: "owner", Type: ptr}, {Name: "total_vm", Type: u64, Offset: 64}}}
	task.Members = []btf.Member{
		{Name: "__state", Type: u32}, {Name: "pid", Type: s32, Offset: 32}, {Name: "tgid", Type: s32, Offset: 64},
		{Name: "comm", Type: &btf.Array{Index: u32, Type: char, Nelems: 16}, Offset: 128},
		{Name: "real_parent", Type: ptr, Offset: 256}, {Name: "mm", Type: &btf.Pointer{Target: mm}, Offset: 320},
		{Name: "cpus", Type: &btf.Array{Index: u32, Type: u32, Nelems: 4}, Offset: 384},
	}
	void := &btf.Pointer{Target: &btf.Void{}}
	tracepoint := func(name string, params ...btf.FuncParam) btf.Type {
		proto := &btf.FuncProto{Return: &btf.Void{}, Params: append([]btf.FuncParam{{Name: "__data", Type: void}}, params...)}
		return &btf.Typedef{Name: "btf_trace_" + name, Type: &btf.Pointer{Target: proto}}
	}
	return []btf.Type{
		task, mm, tracepoint("sched_wakeup", btf.FuncParam{Name: "p", Type: ptr}),
		tracepoint("sched_switch", btf.FuncParam{Name: "preempt", Type: boolean}, btf.FuncParam{Name: "prev", Type: ptr},
			btf.FuncParam{Name: "next", Type: ptr}, btf.FuncParam{Name: "prev_state", Type: u32}),
	}
}
