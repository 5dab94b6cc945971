package kernel

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func fixtureFacts(t testing.TB) *Facts {
	return Open(Options{TracefsPath: "testdata/tracefs", BTF: fixtureBTF(t)})
}

func TestTracepoint(t *testing.T) {
	f := fixtureFacts(t)
	tp, err := f.Tracepoint("made", "odd")
	if err != nil {
		t.Fatal(err)
	}
	if tp.Group != "made" || tp.Name != "odd" || tp.ID != 4711 || tp.PrintFmt != `"fn=%ps", REC->fn` ||
		len(tp.Fields) != 13 {
		t.Errorf("got %+v", tp)
	}
	want := []TracepointField{
		{Name: "common_type", CType: "unsigned short", Size: 2},
		{Name: "common_flags", CType: "unsigned char", Off: 2, Size: 1},
		{Name: "common_preempt_count", CType: "unsigned char", Off: 3, Size: 1},
		{Name: "common_pid", CType: "int", Off: 4, Size: 4, Signed: true},
		{Name: "fn", CType: "void (*)(struct work_struct *)", Off: 8, Size: 8, IsPtr: true},
		{Name: "comm", CType: "char", Off: 16, Size: 16, Signed: true, Array: true, ArrayLen: 16, IsString: true},
		{Name: "lladdr", CType: "u8", Off: 32, Size: 32, Array: true, ArrayLen: 32},
		{Name: "tail", CType: "char[]", Off: 64, Size: 4, Signed: true, Array: true, RelLoc: true, IsString: true},
		{Name: "addrs", CType: "u64[]", Off: 68, Size: 4, Array: true, DataLoc: true},
		{Name: "attr", CType: "const void *const", Off: 72, Size: 8, IsPtr: true},
		{Name: "from", CType: "char *", Off: 80, Size: 8, IsPtr: true},
		{Name: "saddr", CType: "__u8", Off: 88, Size: 28, Array: true, ArrayLen: 28}, // tcp_probe of 5.10
		{Name: "args", CType: "unsigned long", Off: 120, Array: true},
	}
	for i, w := range want {
		if i < len(tp.Fields) && tp.Fields[i] != w {
			t.Errorf("got  %+v\nwant %+v", tp.Fields[i], w)
		}
	}
	if again, _ := f.Tracepoint("made", "odd"); again != tp {
		t.Error("read twice")
	}
}

func TestTracepointField(t *testing.T) {
	tp, err := fixtureFacts(t).Tracepoint("made", "odd")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"from", "from_"} {
		if f, err := tp.Field(name); err != nil || f.Off != 80 {
			t.Errorf("%s: got %+v, %v", name, f, err)
		}
	}
	_, err = tp.Field("com")
	if want := "tracepoint:made:odd has no field com (did you mean comm?)"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestNoTracepoint(t *testing.T) {
	f := fixtureFacts(t)
	for _, c := range [][3]string{
		{"sched", "sched_swich", "sched:sched_switch"},
		{"schedd", "sched_switch", "sched:sched_switch"},
		{"syscalls", "sched_switch", "sched:sched_switch"},
		{"sched", "nothing_like_it", ""},
		{"..", "sched", ""},
		{"", "", ""},
		{"sched", "../../x", ""},
	} {
		_, err := f.Tracepoint(c[0], c[1])
		var no *NoPointError
		if !errors.As(err, &no) || *no != (NoPointError{"tracepoint", c[0] + ":" + c[1], c[2]}) {
			t.Errorf("%s:%s: got %v", c[0], c[1], err)
		}
	}
	_, err := f.Tracepoint("sched", "sched_swich")
	const want = "this kernel has no tracepoint sched:sched_swich (did you mean sched:sched_switch?)"
	if err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestMatchTracepoints(t *testing.T) {
	f := fixtureFacts(t)
	for _, c := range []struct {
		group, name string
		want        string
	}{
		{"sched", "sched_switch", "sched:sched_switch"},
		{"sched", "sched_{switch,nope,process_exec}", "sched:sched_process_exec sched:sched_switch"},
		{"s*", "*", "sched:sched_process_exec sched:sched_switch syscalls:sys_enter_openat"},
		{"*", "[ps]*t*", "sched:sched_switch syscalls:sys_enter_openat"},
		{"ftrace", "*", "ftrace:print"},
		{"nope", "*", ""},
		{"..", "*", ""},
	} {
		got, err := f.MatchTracepoints(c.group, c.name)
		var text []string
		for _, n := range got {
			text = append(text, n.String())
		}
		if s := strings.Join(text, " "); err != nil || s != c.want {
			t.Errorf("%s:%s: got %q, %v", c.group, c.name, s, err)
		}
	}
	if _, err := f.MatchTracepoints("*", "[a"); err == nil {
		t.Error("a bad pattern gives no error")
	}
}

func TestTracefsMissing(t *testing.T) {
	_, err := Open(Options{TracefsPath: filepath.Join(t.TempDir(), "none")}).MatchTracepoints("*", "*")
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestBadFormat(t *testing.T) {
	for text, format := range map[string]string{
		"no ID":               "name: x\n",
		"bad ID":              "ID: -1\n",
		"no semicolon":        "ID: 1\n\tfield:int x\n",
		"must be given":       "ID: 1\n\tfield:int x;\toffset:0;\tsize:4;\n",
		`offset is "70000"`:   "ID: 1\n\tfield:int x;\toffset:70000;\tsize:4;\tsigned:0;\n",
		`size is "x"`:         "ID: 1\n\tfield:int x;\toffset:0;\tsize:x;\tsigned:0;\n",
		"no name":             "ID: 1\n\tfield:int;\toffset:0;\tsize:4;\tsigned:0;\n",
		"strange declaration": "ID: 1\n\tfield:int f(void);\toffset:0;\tsize:4;\tsigned:0;\n",
		`;": no name`:         "ID: 1\n\tfield:;\toffset:0;\tsize:4;\tsigned:0;\n",
	} {
		if _, err := ParseFormat([]byte(format)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want %q, got %v", text, err)
		}
	}
}

// Every format of this kernel.
func TestKernelFormats(t *testing.T) {
	f := Open(Options{})
	names, err := f.MatchTracepoints("*", "*")
	if err != nil {
		t.Skip("needs tracefs, mounted or to be mounted by root:", err)
	}
	for _, n := range names {
		tp, err := f.Tracepoint(n.Group, n.Name)
		if err != nil {
			t.Error(err)
			continue
		}
		checkFormat(t, tp)
	}
	if i, _ := slices.BinarySearchFunc(names, "sched:sched_switch", func(n TracepointName, s string) int {
		return strings.Compare(n.String(), s)
	}); i == len(names) || names[i].Name != "sched_switch" {
		t.Error("no sched_switch")
	}
}

func checkFormat(t *testing.T, tp *Tracepoint) {
	if tp.ID <= 0 || len(tp.Fields) < 4 || tp.Fields[0].Name != "common_type" {
		t.Errorf("%s:%s: %+v", tp.Group, tp.Name, tp)
	}
	for _, f := range tp.Fields {
		switch {
		case f.Array && f.ArrayLen > 0 && f.Size%f.ArrayLen != 0,
			!f.Array && f.Size == 0 && !strings.Contains(f.CType, "struct"),
			f.IsPtr && f.Size != 8,
			(f.DataLoc || f.RelLoc) && f.Size != 4,
			strings.ContainsAny(f.Name, " *[]();"):
			t.Errorf("%s:%s: %+v", tp.Group, tp.Name, f)
		}
	}
}

func TestRawTracepoint(t *testing.T) {
	f := fixtureFacts(t)
	b, _ := f.BTF()
	for name, want := range map[string]string{
		"task_wake":    "p struct task *, flag _Bool",             // named by __traceiter_task_wake
		"task_strange": "arg0 struct task *, arg1 _Bool",          // named by nothing
		"cpu_idle":     "state unsigned int, cpu_id unsigned int", // named by the table
	} {
		rt, err := f.RawTracepoint(name)
		if err != nil {
			t.Error(err)
			continue
		}
		var parts []string
		for _, p := range rt.Params {
			parts = append(parts, p.Name+" "+b.TypeName(p.Type))
		}
		if got := strings.Join(parts, ", "); got != want || rt.Name != name {
			t.Errorf("%s: got %q", name, got)
		}
	}
	_, err := f.RawTracepoint("task_wakee")
	if want := "this kernel has no raw tracepoint task_wakee (did you mean task_wake?)"; err == nil ||
		err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestMatchRawTracepoints(t *testing.T) {
	f := fixtureFacts(t)
	for glob, want := range map[string][]string{
		"*":                      {"cpu_idle", "task_strange", "task_wake"},
		"task_w*":                {"task_wake"},
		"{task_wake,x,cpu_idle}": {"cpu_idle", "task_wake"},
		"nope":                   nil,
	} {
		if got, err := f.MatchRawTracepoints(glob); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", glob, got, err)
		}
	}
}

// All raw tracepoints of this kernel, and names of parameters that scripts use.
func TestKernelRawTracepoints(t *testing.T) {
	kernelBTF(t)
	f := Open(Options{})
	names, err := f.MatchRawTracepoints("*")
	if err != nil || len(names) < 300 {
		t.Fatal(len(names), err)
	}
	for _, n := range names {
		if _, err := f.RawTracepoint(n); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string][]string{
		"sched_switch": {"preempt", "prev", "next"}, "sys_enter": {"regs", "id"}, "sched_wakeup": {"p"},
	} {
		rt, err := f.RawTracepoint(name)
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, p := range rt.Params {
			got = append(got, p.Name)
		}
		if !slices.Equal(got[:min(len(want), len(got))], want) {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestParseLockdown(t *testing.T) {
	for text, want := range map[string]string{
		"none [integrity] confidentiality\n": "integrity", "[none] integrity confidentiality\n": "none", "": "",
		"[": "",
	} {
		if got := ParseLockdown(text); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func FuzzFormat(f *testing.F) {
	paths, _ := filepath.Glob("testdata/tracefs/events/*/*/format")
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tp, err := ParseFormat(text)
		if err != nil {
			return
		}
		for _, field := range tp.Fields {
			if field.Name == "" || field.Off < 0 || field.Size < 0 || field.ArrayLen < 0 {
				t.Errorf("got %+v", field)
			}
		}
	})
}
