package listing_test

import (
	"bytes"
	"debug/dwarf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/listing"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/locate"
	"github.com/startrace/startrace/internal/location"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usdt"
	"github.com/startrace/startrace/test/golden"
	"github.com/startrace/startrace/test/smallkernel"
)

var number = regexp.MustCompile(`# number \d+`)

// fixedTypes are a small kernel.
func fixedTypes(t *testing.T) []byte {
	t.Helper()
	s32, u32 := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}, &btf.Int{Name: "unsigned int", Size: 4}
	u64, char := &btf.Int{Name: "long unsigned int", Size: 8}, &btf.Int{Name: "char", Size: 1, Encoding: btf.Signed}
	task := &btf.Struct{Name: "task_struct", Size: 48}
	ptr := &btf.Pointer{Target: task}
	mm := &btf.Struct{Name: "mm_struct", Size: 16, Members: []btf.Member{{Name: "users", Type: u64},
		{Name: "owner", Type: ptr, Offset: 64}}}
	exit := &btf.Union{Size: 8, Members: []btf.Member{{Name: "exit_code", Type: s32}, {Name: "exit_word", Type: u64}}}
	task.Members = []btf.Member{
		{Name: "pid", Type: &btf.Typedef{Name: "pid_t", Type: s32}},
		{Name: "flag_a", Type: u32, Offset: 32, BitfieldSize: 1},
		{Name: "flag_b", Type: u32, Offset: 33, BitfieldSize: 3},
		{Name: "comm", Type: &btf.Array{Index: u32, Type: char, Nelems: 16}, Offset: 64},
		{Name: "", Type: exit, Offset: 192},
		{Name: "mm", Type: &btf.Pointer{Target: mm}, Offset: 256},
	}
	state := &btf.Enum{Name: "state", Size: 4, Signed: true, Values: []btf.EnumValue{{Name: "GONE", Value: ^uint64(0)},
		{Name: "RUN", Value: 3}}}
	any := &btf.Union{Name: "any", Size: 8, Members: []btf.Member{{Name: "word", Type: u64},
		{Name: "state", Type: state}}}
	meta := &btf.Pointer{Target: &btf.Struct{Name: "bpf_iter_meta", Size: 8,
		Members: []btf.Member{{Name: "seq_num", Type: u64}}}}
	return smallkernel.BTF(t,
		task, any,
		smallkernel.Function("task_read", s32, btf.FuncParam{Name: "p", Type: ptr},
			btf.FuncParam{Name: "from", Type: u64}, btf.FuncParam{Name: "name", Type: &btf.Pointer{Target: char}}),
		smallkernel.Function("task_write", s32, btf.FuncParam{Name: "p", Type: ptr}),
		smallkernel.Function("set_nice", &btf.Void{}, btf.FuncParam{Name: "p", Type: ptr}, btf.FuncParam{Type: s32}),
		smallkernel.Function("bpf_iter_task", s32, btf.FuncParam{Name: "meta", Type: meta},
			btf.FuncParam{Name: "task", Type: ptr}),
		smallkernel.Function("bpf_iter_helper", s32, btf.FuncParam{Name: "p", Type: ptr}),
		smallkernel.Tracepoint("sched_wakeup", btf.FuncParam{Name: "p", Type: ptr}),
	)
}

// programs has one library.
type programs struct{}

func (programs) at(file string) (*binary.File, error) {
	switch file {
	case "", "c", "/lib/libc.so.6":
		return &binary.File{Path: "/lib/libc.so.6", Name: "/lib/libc.so.6"}, nil
	}
	return nil, fmt.Errorf("%w %q", locate.ErrNotFound, file)
}

func (p programs) SourceFiles(file, _ string) ([]string, *binary.File, error) {
	at, err := p.at(file)
	return []string{"run.c"}, at, err
}

func (p programs) Names(q binary.Query) ([]binary.Listed, *binary.File, error) {
	at, err := p.at(q.File)
	if err != nil {
		return nil, nil, err
	}
	glob, err := naming.Compile(q.Pattern)
	if err != nil {
		return nil, nil, err
	}
	list := []binary.Listed{
		{Name: "malloc", Addr: 0x1000, Size: 32, Language: "C"},
		{Name: "ns::make", Full: "ns::make(int)", Addr: 0x2000, Language: "C"},
		{Name: "main.run", Addr: 0x3000, Size: 64, Language: "Go"},
	}
	list = slices.DeleteFunc(list, func(fn binary.Listed) bool { return !glob.Match(fn.Name) })
	return list, at, nil
}

func (p programs) Static(file, pattern string) ([]usdt.StaticProbe, *binary.File, error) {
	at, err := p.at(file)
	if err != nil {
		return nil, nil, err
	}
	site := usdt.Place{Addr: 0x40, Semaphore: 8, Args: []usdt.Operand{
		{Kind: usdt.InRegister, Size: 4, Signed: true, Text: "-4@%edi"}, {Kind: usdt.Constant, Size: 8, Text: "8@$5"},
		{Kind: usdt.Unknown, Size: 2, Text: "2@%foo", Problem: "no such register"},
	}}
	setjmp := usdt.StaticProbe{Provider: "libc", Name: "setjmp", Places: []usdt.Place{site, site}}
	found, err := usdt.Find([]usdt.StaticProbe{setjmp}, pattern)
	return found, at, err
}

func (programs) Type(*binary.File, dwarf.Offset, *kernel.BTF) (kernel.TypeID, error) {
	return 0, errors.New("there is no debug information")
}

func (programs) Changed(_ *binary.File, addr uint64, _ signature.Alteration) *signature.Signature {
	if addr != 0x1000 {
		return nil
	}
	return &signature.Signature{Params: []signature.Word{{Size: 4, Signed: true}, {Size: 2}, {Size: 8, Address: true},
		{Place: abi.Place{Where: abi.Other}, Size: 8}}, Void: true, Open: true}
}

func (programs) Functions(binary.Query) ([]binary.Function, *binary.File, error) {
	return nil, nil, errors.New("not asked")
}

func (programs) Inside(*binary.File, binary.Function, uint64) error { return nil }

func (p programs) Lines(file, source string, line int) ([]binary.Function, *binary.File, error) {
	at, err := p.at(file)
	if err != nil || source != "src/read.c" {
		return nil, at, errors.Join(err, errors.New("no such source"))
	}
	fn := binary.Function{Name: "read", Start: 0x10, Addr: 0x1010, Entry: 0x14, Inside: 4, Inlined: line > 7}
	return []binary.Function{fn}, at, nil
}

func (programs) Length(*binary.File, binary.Function, uint64, dwarf.Offset) (locals.Variable, error) {
	return locals.Variable{}, nil
}

func (programs) Locals(*binary.File, binary.Function, uint64) ([]locals.Variable, error) {
	held := location.Place{Kind: location.Held}
	return []locals.Variable{{Name: "n", Place: held}, {Name: "gone"}}, nil
}

func (programs) Line(_ *binary.File, addr uint64) string {
	if addr == 0x2000 {
		return "/src/make.cc:12"
	}
	return ""
}

func (programs) Mapped() ([]string, error) { return []string{"/bin/program", "/lib/libc.so.6"}, nil }

func source(t *testing.T) *listing.Source {
	features := kernel.AllFeatures()
	return &listing.Source{
		Facts: kernel.Open(kernel.Options{
			BTF: fixedTypes(t), TracefsPath: "testdata/tracefs", Features: func() kernel.Features { return features },
			Blacklist: func() (*kernel.Blacklist, error) {
				return kernel.ReadBlacklist(strings.NewReader("0xffffffff81000500-0xffffffff81000510\tuntyped\n"))
			},
		}),
		Programs: programs{},
	}
}

// TestListings compares what each pattern of testdata/listings.txt shows: a
// line `$ [-v] [-p] PATTERN`, then the text.
func TestListings(t *testing.T) {
	const file = "testdata/listings.txt"
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	for line := range strings.Lines(string(want)) {
		if pattern, ok := strings.CutPrefix(line, "$ "); ok {
			if got.Len() > 0 {
				got.WriteByte('\n')
			}
			got.WriteString(line)
			var text bytes.Buffer
			show(t, &text, strings.TrimSpace(pattern))
			got.Write(number.ReplaceAll(text.Bytes(), []byte("# number N"))) // they differ by machine
		}
	}
	golden.Equal(t, file, got.String())
}

func show(t *testing.T, to *bytes.Buffer, pattern string) {
	t.Helper()
	s := source(t)
	pattern, s.Verbose = strings.CutPrefix(pattern, "-v")
	pattern, s.Traced = strings.CutPrefix(strings.TrimSpace(pattern), "-p ")
	r, err := s.Find(pattern)
	if err != nil {
		fmt.Fprintf(to, "error: %v\n", err)
	}
	if err := r.WriteText(to, s.Verbose); err != nil {
		t.Fatal(err)
	}
	for _, problem := range r.Problems {
		fmt.Fprintf(to, "problem: %v\n", problem)
	}
	for _, hint := range r.Hints {
		fmt.Fprintf(to, "hint: %s\n", hint)
	}
}

// JSON is a line for each thing, with the names that the text has.
func TestJSON(t *testing.T) {
	s := source(t)
	s.Verbose = true
	r, err := s.Find("fexit:task_read")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := r.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var p listing.Point
	if err := json.Unmarshal(text.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	want := []listing.Field{
		{Name: "e.args.p", C: "struct task_struct *", Type: "pointer", Size: 8},
		{Name: "e.args.from_", C: "long unsigned int", Type: "int", Size: 8},
		{Name: "e.args.name", C: "char *", Type: "string", Size: 8},
		{Name: "e.ret", C: "int", Type: "int", Size: 4},
	}
	if p.Name != "fexit:task_read" || !slices.Equal(p.Fields, want) {
		t.Errorf("%s", text.String())
	}
}

// What one kind lacks is said, and the others are listed.
func TestProblems(t *testing.T) {
	s := source(t)
	s.Facts = kernel.Open(kernel.Options{
		BTF: fixedTypes(t), TracefsPath: "testdata/none",
		Features: func() kernel.Features {
			return kernel.Features{Why: map[string]string{"kprobe": "it is a test"}}
		},
		Trampolines: func() kernel.Trampolines { return kernel.Trampolines{} },
	})
	r, err := s.Find("{sched_wakeup,read}")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range r.Points {
		names = append(names, p.Name)
	}
	if want := []string{"rawtracepoint:sched_wakeup", "syscall:read"}; !slices.Equal(names, want) {
		t.Errorf("found %v, want %v", names, want)
	}
	if r, _ = s.Find("kprobe:task_read"); len(r.Points) != 1 || len(r.Problems) != 1 ||
		!strings.Contains(r.Problems[0].Error(), "it is a test") {
		t.Errorf("points %v, problems %v", r.Points, r.Problems)
	}
	if r, _ = s.Find("tracepoint:*:*"); len(r.Problems) != 1 || !errors.Is(r.Problems[0], os.ErrNotExist) {
		t.Errorf("problems %v", r.Problems)
	}
}

// Types of loaded modules are listed as scripts name them, also a `struct NAME` that the kernel proper has not.
//
// > `list -v 'struct task_struct.mm'` shows the layout of a type, `list -v 'xfs:struct xfs_inode'` that of a loaded
// > module's.
func TestTypesOfModules(t *testing.T) {
	base := fixedTypes(t)
	for _, c := range []struct{ pattern, alike, differ string }{
		{"struct item", "struct item", `the modules one and two have different ones of the name struct item: ` +
			`write which, as "one:struct item"`},
		{"struct it*", "struct item", ""},
		{"one:struct item", "one:struct item", "one:struct item"},
		{"two:struct it*", "two:struct item", "two:struct item"},
		{"one:struct item.key", "one:struct item.key", "one:struct item.key"},
		{"three:struct item", "", ""},
		{"one:struct itm", "did you mean one:struct item?", "did you mean one:struct item?"},
		{"struct task_struct", "struct task_struct", "struct task_struct"},
	} {
		for second, want := range map[string]string{"key": c.alike, "id": c.differ} {
			s := source(t)
			s.Facts = kernel.Open(kernel.Options{BTF: base, TracefsPath: t.TempDir(), ModuleBTF: map[string][]byte{
				"one": smallkernel.Module(t, base, "item", "key"), "two": smallkernel.Module(t, base, "item", second)}})
			r, err := s.Find(c.pattern)
			got := strings.Join(r.Hints, "")
			if err != nil {
				got = err.Error()
			}
			for _, l := range r.Types {
				got += l.Type
			}
			if got != want {
				t.Errorf("%s, with %s in the other module: got %q, want %q", c.pattern, second, got, want)
			}
		}
	}
}
