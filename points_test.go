package startrace_test

import (
	"bytes"
	"debug/dwarf"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/command"
	"github.com/startrace/startrace/internal/doctor"
	"github.com/startrace/startrace/internal/explain"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/listing"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/manual"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
	"github.com/startrace/startrace/internal/session"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usdt"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/test/smallkernel"
)

// Each kind of points that internal/point has is known in every room that must know it: its row is whole, its examples
// are read, found, compiled, explained, and there is a way to attach what they come to; the prompt and shells complete
// it, and doctor tries what it needs.
//
// > `startrace list 'lsm:*'` shows the hooks.
func TestPoints(t *testing.T) {
	k := newPointKernel(t)
	tried := attach.Try(&attach.Trial{TracepointID: func() (uint64, error) { return 0, errors.New("not tried") }})
	completed := completedKinds(t)
	seen := map[string]string{}
	for _, kind := range point.Kinds() {
		t.Run(kind.Name, func(t *testing.T) {
			wholeRow(t, kind, seen)
			inRoom(t, "probe()", func() { readable(t, kind) })
			inRoom(t, "list", func() { k.listed(t, kind) })
			for _, example := range kind.Examples {
				inRoom(t, "the compiler", func() { k.compiled(t, example, "n[e.probe].add()", true) })
				inRoom(t, "stacks", func() { k.compiled(t, example, "n[e.stack(2)].add()", false) })
			}
			inRoom(t, "doctor", func() { diagnosed(t, kind, tried) })
			if !slices.Contains(completed, kind.Name+":") {
				t.Errorf("completion does not offer %s: among %q", kind.Name, completed)
			}
		})
	}
}

// inRoom says in which room an answer is missing for which there is a panic, and goes on.
func inRoom(t *testing.T, room string, ask func()) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: %v", room, r)
		}
	}()
	ask()
}

// wholeRow: what every kind has is there, and no word means two kinds.
func wholeRow(t *testing.T, k *point.Kind, seen map[string]string) {
	for what, missing := range map[string]bool{
		"Family": k.Family == nil, "Form": k.Form == "", "Wanted": k.Wanted == "", "What": k.What == "",
		"Examples": len(k.Examples) == 0, "Ways": len(k.Ways) == 0, "Min": k.Min < 1, "Max": k.Max < k.Min,
		"Gives": k.Gives == nil, "ListedBy": k.ListedBy == 0,
		"Set, and the kernel lists its points": k.ListedBy > point.NoList && k.Set == "",
	} {
		if missing {
			t.Errorf("its row has no %s", what)
		}
	}
	words := []string{k.Name}
	if k.Short != "" {
		words = append(words, k.Short)
	}
	for word := range k.Foreign {
		words = append(words, word)
	}
	for _, word := range words {
		if other := seen[word]; other != "" {
			t.Errorf("%s means %s, too", word, other)
		}
		seen[word] = k.Name
	}
	for _, part := range k.Gives {
		if !slices.Contains(infer.EventFields(), part) {
			t.Errorf("it gives e.%s, which no event has", part)
		}
	}
}

// readable: probe() reads it by both names, says what is wanted where fields are missing, and what stands here for the
// words of others; so does the parser for lines of these.
func readable(t *testing.T, k *point.Kind) {
	for _, example := range k.Examples {
		_, rest, _ := strings.Cut(example, ":")
		for _, name := range []string{k.Name, k.Short} {
			if name == "" {
				continue
			}
			p, err := builtins.ParsePattern(name+":"+rest, plan.Pos{})
			if err != nil || p.Provider != k.Name {
				t.Errorf("%s:%s is read as %+v, %v", name, rest, p, err)
			}
		}
	}
	if _, err := builtins.ParsePattern(k.Name+":", plan.Pos{}); err == nil ||
		!strings.Contains(err.Error(), "want "+k.Name+":"+k.Wanted) {
		t.Errorf("%s: alone is answered by %v", k.Name, err)
	}
	words := []string{k.Name}
	for word, ours := range k.Foreign {
		words = append(words, word)
		if _, err := builtins.ParsePattern(word+":x", plan.Pos{}); err == nil || !strings.Contains(err.Error(), ours) {
			t.Errorf("%s:x is answered by %v, want %s", word, err, ours)
		}
	}
	for _, word := range words {
		err := script.New(script.Options{}).ParseText("t.star", []byte(word+":x { print(1); }\n"))
		if err == nil || !strings.Contains(err.Error(), "probes are declared by a call") {
			t.Errorf("a line that begins with %s: is answered by %v", word, err)
		}
	}
}

// A pointKernel is a kernel and a program of fixed content that have the examples of the table.
type pointKernel struct{ facts *kernel.Facts }

func newPointKernel(t *testing.T) *pointKernel {
	s32 := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	types := append(smallkernel.Types(), smallkernel.Function("vfs_read", s32, btf.FuncParam{Name: "fd", Type: s32}),
		smallkernel.Function("tcp_sendmsg", s32, btf.FuncParam{Name: "size", Type: s32}))
	types = append(types,
		smallkernel.Hooks(btf.FuncParam{Name: "mask", Type: s32}, "file_open", "bprm_check_security")...)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"events/sched/sched_switch/format":   pointFormat("sched_switch", 1),
		"events/block/block_rq_issue/format": pointFormat("block_rq_issue", 2),
		"available_filter_functions":         "vfs_read\ntcp_sendmsg\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &pointKernel{kernel.Open(kernel.Options{
		BTF: smallkernel.BTF(t, types...), TracefsPath: dir,
		Symbols: func() (*kernel.Symbols, error) {
			return kernel.ReadSymbols(strings.NewReader("ffffffff81000000 T vfs_read\nffffffff82000000 D jiffies\n"))
		},
		Blacklist: func() (*kernel.Blacklist, error) { return kernel.ReadBlacklist(strings.NewReader("")) },
	})}
}

func pointFormat(name string, id int) string {
	return fmt.Sprintf("name: %s\nID: %d\nformat:\n\tfield:int nr;\toffset:8;\tsize:4;\tsigned:1;\n\n"+
		"print fmt: \"%%d\", REC->nr\n", name, id)
}

// listed: it has its line among the kinds, and its examples are found.
func (k *pointKernel) listed(t *testing.T, kind *point.Kind) {
	src := &listing.Source{Facts: k.facts, Programs: pointProgram{}}
	all, err := src.Find("")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all.Kinds, func(s *listing.Summary) bool {
		return s.Kind == kind.Name && (s.Count != nil) == (kind.Set != "")
	}) {
		t.Errorf("list does not show the kind, or not how many points it has")
	}
	for _, example := range kind.Examples {
		found, err := src.Find(example)
		if err != nil || len(found.Points) == 0 || len(found.Problems) > 0 {
			t.Errorf("list %s: %d points, %v %v", example, len(found.Points), err, found.Problems)
			continue
		}
		for _, p := range found.Points {
			if p.Kind != kind.Name {
				t.Errorf("list %s: %s is of the kind %s", example, p.Name, p.Kind)
			}
		}
	}
}

// compiled: an example has points, which become programs of a type that the kernel knows, of which explain says how
// they are attached, and which can be attached. A handler may be refused unless it must compile: iterators have no
// stacks.
func (k *pointKernel) compiled(t *testing.T, example, handler string, must bool) {
	h := script.New(script.Options{Constant: kernel.Constant})
	src := fmt.Sprintf("n = count()\nprobe(%q, lambda e: %s)\n", example, handler)
	if err := h.ParseText("t.star", []byte(src)); err != nil {
		t.Fatal(err)
	}
	if err := h.Run(nil); err != nil {
		t.Fatal(err)
	}
	res, err := infer.Plan(h.Plan(), k.facts, infer.Options{Programs: pointProgram{}})
	if err != nil {
		if must {
			t.Errorf("infer: %s: %v", example, err)
		}
		return
	}
	unit, err := bpfgen.Generate(res.Tree, bpfgen.Options{HasLoop: true})
	if err != nil {
		t.Errorf("bpfgen: %s: %v", example, err)
		return
	}
	r := explain.New(&explain.Input{Plan: h.Plan(), Result: res, Unit: unit, CPUs: 2, PossibleCPUs: 2,
		Source: func(string, int) string { return "" }})
	if len(r.Probes) != 1 || len(r.Probes[0].Programs) == 0 {
		t.Fatalf("explain: %s has no programs", example)
	}
	for _, p := range r.Probes[0].Programs {
		if p.Attached == "" {
			t.Errorf("explain: %s: nothing says how %s is attached", example, p.Name)
		}
	}
	for _, p := range unit.Tree.Programs {
		if text := (&attach.Error{Program: p, Err: errors.New("why")}).Error(); strings.Contains(text, "attach :") {
			t.Errorf("attach: %s: %s", example, text)
		}
	}
}

// diagnosed: doctor says of one of its ways at least that it is for this kind or family, and tries all.
func diagnosed(t *testing.T, k *point.Kind, tried map[kernel.Way]error) {
	m := &doctor.Machine{Tried: tried}
	for _, way := range k.Ways {
		if _, is := tried[way.Name]; !is {
			t.Errorf("attach.Try does not try %s, by which it is attached", way.Name)
		}
		if !slices.ContainsFunc(doctor.Examine(m).Findings, func(f doctor.Finding) bool {
			return f.Subject == string(way.Name)
		}) {
			t.Errorf("doctor says nothing of %s", way.Name)
		}
	}
}

// completedKinds are what a shell is offered behind `startrace list `.
func completedKinds(t *testing.T) []string {
	var out bytes.Buffer
	exit, err := command.Complete(session.Options{Stdout: &out, Stderr: &out},
		&manual.Book{Commands: manual.Commands()}, "bash", "startrace list ")
	if err != nil || exit != session.Done {
		t.Fatalf("exit %d, %v", exit, err)
	}
	return strings.Fields(out.String())
}

// A pointProgram has whatever function and static probe it is asked for.
type pointProgram struct{}

var _ points.Programs = pointProgram{}
var _ listing.Programs = pointProgram{}

func (pointProgram) file() *binary.File { return &binary.File{Path: "/bin/p", Name: "/bin/p"} }

func (p pointProgram) Functions(q binary.Query) ([]binary.Function, *binary.File, error) {
	name := strings.ReplaceAll(q.Pattern, "*", "x")
	return []binary.Function{{Name: name, Start: 0x1000, Entry: 0x1000}}, p.file(), nil
}

func (p pointProgram) Names(q binary.Query) ([]binary.Listed, *binary.File, error) {
	return []binary.Listed{{Name: strings.ReplaceAll(q.Pattern, "*", "x"), Addr: 0x1000, Language: "C"}}, p.file(), nil
}

func (p pointProgram) Static(string, string) ([]usdt.StaticProbe, *binary.File, error) {
	at := []usdt.Place{{Addr: 0x40, Offset: 0x40}}
	return []usdt.StaticProbe{{Provider: "p", Name: "x", Places: at}}, p.file(), nil
}

func (pointProgram) Steps(*binary.File, binary.Function, uint64) error      { return nil }
func (pointProgram) Inside(*binary.File, binary.Function, uint64) error     { return nil }
func (pointProgram) Split(*binary.File, binary.Function) (name, why string) { return "", "" }
func (pointProgram) TypeNamed(string, string, *kernel.BTF) (kernel.TypeID, error) {
	return 0, errors.New("there is no debug information")
}

func (pointProgram) Type(*binary.File, dwarf.Offset, *kernel.BTF) (kernel.TypeID, error) {
	return 0, errors.New("no types")
}

func (pointProgram) Signature(*binary.File, binary.Function) *signature.Signature {
	return nil
}
func (p pointProgram) Lines(string, string, int) ([]binary.Function, *binary.File, error) {
	return []binary.Function{{Name: "f", Start: 0x10, Entry: 0x10, Inside: 4, Source: "f.c:1"}}, p.file(), nil
}
func (pointProgram) Global(*binary.File, binary.Function, string) (*locals.Variable, error) {
	return nil, nil
}
func (pointProgram) Parameters(*binary.File, binary.Function) ([]locals.Variable, error) {
	return nil, nil
}
func (pointProgram) Definition(*binary.File, binary.Function) string { return "" }

func (pointProgram) SourceAt(*binary.File, binary.Function, uint64) string { return "" }

func (p pointProgram) SourceFiles(string, string) ([]string, *binary.File, error) {
	return nil, p.file(), nil
}
func (pointProgram) Length(*binary.File, binary.Function, uint64, dwarf.Offset) (locals.Variable, error) {
	return locals.Variable{}, nil
}

func (pointProgram) Locals(*binary.File, binary.Function, uint64) ([]locals.Variable, error) {
	return nil, nil
}
func (pointProgram) Symbol(string, string) (binary.Symbol, error) { return binary.Symbol{}, nil }
func (pointProgram) Variable(string, string) (binary.Memory, error) {
	return binary.Memory{Addr: 0x2000}, nil
}
func (pointProgram) Changed(*binary.File, uint64, signature.Alteration) *signature.Signature {
	return nil
}
func (pointProgram) Line(*binary.File, uint64) string { return "" }
func (pointProgram) Mapped() ([]string, error)        { return nil, nil }

// The rooms that find, list, diagnose, complete and explain points take the names of kinds from the table: none of
// them writes one, so a kind that is added there needs no word of its own in them.
func TestKindsAreNamedInOnePlace(t *testing.T) {
	names := map[string]bool{}
	for _, k := range point.Kinds() {
		names[k.Name], names[k.Name+":"] = true, true
	}
	rooms := []string{"bpfgen/points", "internal/listing", "internal/doctor", "internal/machine", "internal/explain"}
	for _, file := range productFiles(t) {
		if !slices.Contains(rooms, file.folder) {
			continue
		}
		ast.Inspect(file.ast, func(n ast.Node) bool {
			if _, is := n.(*ast.ImportSpec); is {
				return false
			}
			if at, is := n.(*ast.IndexExpr); is { // what a kernel lacks has words of its own
				of, selected := at.X.(*ast.SelectorExpr)
				return !selected || of.Sel.Name != "Why"
			}
			lit, is := n.(*ast.BasicLit)
			if !is || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && names[text] {
				t.Errorf("%s names the kind %s: take it from its row (internal/point)", file.position(lit), lit.Value)
			}
			return true
		})
	}
}
