package startrace_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/startrace/startrace/"

// A layer says what the packages below some folders may import: of the module these folders, of others these
// modules. The longest folder that fits a package governs it.
type layer struct {
	folder  string
	own     []string
	foreign []string
}

const (
	ebpf     = "github.com/cilium/ebpf"
	starlark = "go.starlark.net/"
	unix     = "golang.org/x/sys/unix"
	delve    = "github.com/go-delve/delve/pkg/dwarf/"
	anything = "*"
)

// The direction of imports: cmd → prompt → session → everything; what a script declares is data (plan), and the
// compiler turns it into data, so neither sees the interpreter's values or a descriptor.
var layers = []layer{
	{"cmd", []string{"internal/command", "internal/flags", "internal/manual", "internal/mistake", "internal/prompt",
		"internal/session", "internal/sigaction"},
		[]string{anything}},
	{"internal/command", []string{"builtins", "docs", "internal/attach", "internal/doctor", "internal/escape",
		"internal/flags", "internal/format", "internal/kernel", "internal/machine", "internal/manual",
		"internal/mistake", "internal/naming", "internal/output", "internal/render", "internal/session", "stdlib"},
		[]string{starlark, unix}},
	{"internal/prompt", []string{"bpfgen/infer", "builtins", "internal/command", "internal/format", "internal/line",
		"internal/mistake", "internal/plan", "internal/procs", "internal/session", "internal/stream", "starlark",
		"stdlib"},
		[]string{starlark, unix}},
	{"internal/session", []string{"internal", "bpfgen", "builtins", "starlark", "stdlib"}, []string{anything}},

	{"builtins", []string{"internal/duration", "internal/escape", "internal/flags", "internal/naming", "internal/plan",
		"internal/point", "internal/format", "internal/kernel", "internal/wire", "starlark/value"},
		[]string{starlark, unix}},
	{"starlark/repl", nil, nil},
	{"starlark/value", []string{"internal/plan", "internal/escape", "internal/format", "internal/wire"},
		[]string{starlark}},
	{"starlark/script", []string{"builtins", "internal/escape", "internal/kernel", "internal/naming",
		"internal/plan", "internal/point", "starlark/value"}, []string{starlark, unix}},
	{"stdlib", nil, nil},
	{"docs", nil, nil},

	{"bpfgen", []string{"bpfgen", "internal/abi", "internal/ctypes", "internal/escape", "internal/format",
		"internal/naming", "internal/plan", "internal/kernel", "internal/locals", "internal/location", "internal/point",
		"internal/signature",
		"internal/until", "internal/usdt", "internal/wire"},
		[]string{ebpf, ebpf + "/asm", ebpf + "/btf", starlark + "syntax", starlark + "resolve", unix}},
	{"bpfgen/points", []string{"bpfgen/refusal", "bpfgen/tree", "internal/abi", "internal/binary",
		"internal/ctypes", "internal/duration", "internal/format", "internal/gofunc", "internal/kernel",
		"internal/locals",
		"internal/naming",
		"internal/plan", "internal/point", "internal/signature", "internal/usdt"}, nil},

	{"bpfgen/attrs", []string{"internal/plan"}, nil},

	{"bpfgen/refusal", []string{"internal/naming", "internal/plan"}, nil},

	{"internal/mistake", []string{"bpfgen/refusal", "builtins", "internal/escape", "internal/line",
		"internal/naming", "internal/plan", "internal/until", "starlark/script", "stdlib"}, nil},
	{"internal/world", []string{"builtins", "internal/kernel", "internal/mistake", "internal/procs", "starlark/value"},
		[]string{starlark, unix}},
	{"internal/changes", []string{"bpfgen/infer", "internal/attach", "internal/bell", "internal/filewatch",
		"internal/format", "internal/kernel", "internal/loading", "internal/mistake", "internal/parts",
		"internal/plan"}, []string{unix}},
	{"internal/loading", []string{"bpfgen", "internal/attach", "internal/bell", "internal/binary",
		"internal/callcount", "internal/elffile", "internal/explain", "internal/format", "internal/locate",
		"internal/machine", "internal/memory", "internal/mistake", "internal/output", "internal/parts",
		"internal/plan", "internal/stacks", "internal/stream", "internal/target", "internal/unwind", "internal/wire",
		"starlark/script"},
		[]string{ebpf}},
	{"internal/delivery", []string{"internal/callback", "internal/eventline", "internal/output",
		"internal/parts", "internal/stacks", "internal/stream", "internal/timers", "internal/wire",
		"starlark/script", "starlark/value"},
		[]string{starlark}},
	{"internal/parts", []string{"bpfgen", "builtins", "internal/attach", "internal/loss", "internal/openspans",
		"internal/plan", "internal/procs", "internal/stacks", "internal/stream", "internal/wire",
		"starlark/script", "starlark/value"},
		[]string{ebpf}},
	{"internal/callback", []string{"builtins", "internal/escape", "internal/format", "internal/mistake",
		"internal/output", "starlark/script"},
		[]string{starlark}},
	{"internal/ending", []string{"internal/until"}, []string{unix}},
	{"internal/timers", nil, []string{starlark}},
	{"internal/memory", nil, []string{unix}},
	{"internal/loss", []string{"bpfgen", "internal/attach", "internal/format", "internal/plan", "starlark/value"},
		[]string{ebpf}},
	{"internal/twins", []string{"internal/attach", "internal/plan", "starlark/value"}, nil},
	{"internal/output", []string{"internal/escape", "internal/format", "internal/line", "internal/mistake",
		"internal/render"}, []string{unix}},
	{"internal/results", []string{"internal/plan", "internal/render", "starlark/value"}, []string{starlark}},
	{"internal/eventline", []string{"internal/escape", "internal/kernel", "internal/output", "internal/printfmt",
		"internal/render", "internal/results", "internal/wire", "starlark/value"}, []string{starlark}},
	{"internal/machine", []string{"bpfgen/infer", "bpfgen/refusal", "internal/attach", "internal/binary",
		"internal/ctypes", "internal/doctor", "internal/kernel", "internal/listing", "internal/locate",
		"internal/naming", "internal/plan",
		"internal/output", "internal/point", "internal/render"},
		[]string{unix}},
	{"internal/stacks", []string{"bpfgen/tree", "internal/format", "internal/kernel", "internal/mapping",
		"internal/output", "internal/python", "internal/sideband", "internal/symbols", "internal/until",
		"internal/unwind", "internal/wire", "starlark/value"},
		[]string{ebpf}},
	{"internal/openspans", []string{"bpfgen", "internal/kernel", "internal/plan", "internal/procs", "internal/state",
		"internal/wire", "starlark/value"}, []string{ebpf, starlark}},
	{"internal/flags", []string{"internal/duration", "internal/naming"}, nil},
	{"internal/duration", nil, nil},
	{"internal/bell", []string{"internal/stream"}, nil},
	{"internal/filewatch", nil, []string{unix}},
	{"internal/target", []string{"internal/bell", "internal/machine", "internal/output", "internal/plan",
		"internal/procs", "internal/sideband"}, []string{ebpf, unix}},
	{"internal/line", []string{"internal/pty"}, []string{"github.com/mattn/go-runewidth",
		"github.com/peterh/liner", unix}},
	{"internal/pty", nil, []string{unix}},
	{"internal/sigaction", []string{"internal/sigaction"}, nil},
	{"internal/audit", []string{"bpfgen", "internal/explain", "internal/format", "internal/paragraph"}, nil},
	{"internal/paragraph", []string{"internal/escape"}, nil},
	{"internal/explain", []string{"bpfgen", "internal/format", "internal/paragraph", "internal/plan", "internal/wire"},
		[]string{ebpf, ebpf + "/asm", starlark + "syntax", starlark + "resolve"}},
	{"internal/manual", []string{"internal/escape", "internal/flags"}, nil},
	{"internal/plan", nil, []string{starlark + "syntax"}},
	{"internal/wire", nil, nil},
	{"internal/escape", nil, nil},
	{"internal/format", []string{"internal/escape"}, nil},
	{"internal/printfmt", nil, nil},
	{"internal/render", []string{"internal/escape", "internal/format"}, nil},
	{"internal/abi", nil, nil},
	{"internal/kernel", []string{"internal/abi", "internal/naming"}, []string{unix}},
	{"internal/naming", nil, nil},
	{"internal/point", []string{"internal/kernel", "internal/naming"}, nil},
	{"internal/doctor", []string{"internal/escape", "internal/kernel", "internal/point"}, []string{unix}},
	{"internal/elffile", []string{"internal/naming"}, []string{"github.com/ianlancetaylor/demangle",
		"github.com/ulikunitz/xz"}},
	{"internal/dwarfinfo", []string{"internal/escape"}, nil},
	{"internal/prototypes", []string{"internal/ctypes", "internal/dwarfinfo", "internal/kernel"}, nil},
	{"internal/dwarffile", []string{"internal/dwarfinfo", "internal/elffile"}, nil},
	{"internal/gofunc", nil, []string{"golang.org/x/arch/"}},
	{"internal/signature", []string{"internal/abi", "internal/cpplib", "internal/dwarfinfo", "internal/entryplace",
		"internal/gofunc", "internal/location", "internal/rustclosure", "internal/sourceline", "internal/unoptimized"},
		[]string{"github.com/ianlancetaylor/demangle"}},
	{"internal/unoptimized", []string{"internal/dwarfinfo"}, nil},
	{"internal/rustclosure", []string{"internal/dwarfinfo"}, nil},
	{"internal/entryplace", []string{"internal/abi", "internal/dwarfinfo", "internal/location"}, nil},
	{"internal/location", []string{"internal/dwarfinfo"}, nil},
	{"internal/sourcefunc", []string{"internal/dwarfinfo", "internal/sourceline", "internal/sourcename"}, nil},
	{"internal/sourcename", []string{"internal/dwarfinfo", "internal/elffile"}, nil},
	{"internal/callframe", []string{"internal/location"}, []string{delve + "frame"}},
	{"internal/cfi", []string{"internal/elffile", "internal/wire"}, nil},
	{"internal/python", []string{"internal/elffile", "internal/wire"}, nil},
	{"internal/unwind", []string{"internal/cfi", "internal/elffile", "internal/mapping", "internal/python",
		"internal/until", "internal/wire"}, []string{ebpf}},
	{"internal/locals", []string{"internal/dwarfinfo", "internal/elffile", "internal/location", "internal/sourceline",
		"internal/sourcename", "internal/unoptimized"},
		nil},
	{"internal/sourceline", []string{"internal/dwarfinfo", "internal/escape"}, nil},
	{"internal/cpplib", []string{"internal/dwarfinfo"}, nil},
	{"internal/mapping", nil, nil},
	{"internal/locate", []string{"internal/elffile", "internal/mapping", "internal/naming"}, nil},
	{"internal/ctypes", []string{"internal/kernel", "internal/naming", "internal/plan"}, nil},
	{"internal/usertypes", []string{"internal/cpplib", "internal/dwarfinfo", "internal/kernel"}, nil},
	{"internal/binary", []string{"internal/callframe", "internal/dwarffile", "internal/dwarfinfo", "internal/elffile",
		"internal/gofunc", "internal/kernel", "internal/locals", "internal/locate", "internal/location",
		"internal/mapping", "internal/naming", "internal/prototypes", "internal/signature", "internal/sourcefunc",
		"internal/sourceline",
		"internal/usdt", "internal/usertypes"}, nil},
	{"internal/listing", []string{"internal/binary", "internal/ctypes", "internal/escape", "internal/kernel",
		"internal/locals", "internal/locate", "internal/location", "internal/naming", "internal/point", "internal/abi",
		"internal/signature", "internal/usdt"}, nil},
	{"internal/usdt", []string{"internal/elffile", "internal/naming"}, nil},
	{"internal/symbols", []string{"internal/dwarffile", "internal/elffile", "internal/mapping", "internal/sourcefunc",
		"internal/python", "internal/until"}, nil},
	{"internal/sideband", []string{"internal/kernel", "internal/mapping"}, []string{unix}},
	{"internal/until", nil, nil},
	{"internal/bpf", nil, []string{ebpf, ebpf + "/asm", ebpf + "/btf", ebpf + "/link", unix}},
	{"internal/procs", []string{"internal/bpf", "internal/format", "internal/kernel", "internal/sigaction"},
		[]string{ebpf, ebpf + "/asm", unix}},
	{"internal/callcount", []string{"internal/bpf", "internal/kernel"}, []string{unix}},
	{"internal/attach", []string{"bpfgen", "internal/bpf", "internal/callcount", "internal/kernel", "internal/format",
		"internal/plan"},
		[]string{ebpf, ebpf + "/asm", unix}},
	{"internal/stream", []string{"internal/wire"}, []string{ebpf, unix}},
	{"internal/state", []string{"bpfgen", "internal/bpf", "internal/kernel", "internal/wire", "starlark/value"},
		[]string{ebpf, ebpf + "/asm", ebpf + "/btf", unix}},

	{"test", []string{"test", "internal", "bpfgen", "builtins", "docs", "starlark", "stdlib"}, []string{anything}},
}

// Packages import what their layer allows, and a layer allows no more than its packages import.
func TestImportDirections(t *testing.T) {
	used := map[*layer]map[string]bool{}
	for _, f := range productFiles(t) {
		l := layerOf(f.folder)
		if l == nil {
			t.Errorf("%s: no layer in layout_test.go governs this package", f.name)
			continue
		}
		if used[l] == nil {
			used[l] = map[string]bool{}
		}
		for _, spec := range f.ast.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			by, ok := l.allows(imported)
			if !ok {
				t.Errorf("%s imports %s: the packages below %s must not", f.position(spec), imported, l.folder)
			}
			used[l][by] = true
		}
	}
	for i, l := range layers {
		if used[&layers[i]] == nil {
			t.Errorf("there are no packages below %s of their own: remove the layer", l.folder)
		}
		for _, entry := range slices.Concat(l.own, l.foreign) {
			if !used[&layers[i]][entry] {
				t.Errorf("the packages below %s may import %s, and none does: remove it from their layer", l.folder,
					entry)
			}
		}
	}
}

func layerOf(folder string) *layer {
	var best *layer
	for i, l := range layers {
		if within(folder, l.folder) && (best == nil || len(l.folder) > len(best.folder)) {
			best = &layers[i]
		}
	}
	return best
}

// allows reports whether a layer may import a package, and by which of its entries: none for the standard library.
func (l *layer) allows(imported string) (by string, ok bool) {
	if own, ok := strings.CutPrefix(imported, module); ok {
		return entryOf(l.own, func(folder string) bool { return within(own, folder) })
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return "", true
	}
	return entryOf(l.foreign, func(allowed string) bool {
		return allowed == anything || allowed == imported ||
			strings.HasSuffix(allowed, "/") && strings.HasPrefix(imported, allowed) // a whole module
	})
}

// entryOf is the longest of a list that fits, so that one within another is not needed by chance.
func entryOf(list []string, fits func(string) bool) (best string, ok bool) {
	for _, entry := range list {
		if fits(entry) && len(entry) > len(best) {
			best = entry
		}
	}
	return best, best != ""
}

// within says whether folder is top or lies below it.
func within(folder, top string) bool { return folder == top || strings.HasPrefix(folder, top+"/") }

// holders are the packages that may make descriptors of the kernel's, and so must close them. internal/kernel maps
// BTF, internal/bpf makes the calls for the others.
var holders = []string{
	"internal/attach", "internal/stream", "internal/state", "internal/procs", "internal/sideband", "internal/bpf",
	"internal/kernel", "internal/unwind", "test",
}

// makers make descriptors or mappings, by package and function; an empty function stands for the whole package.
var makers = map[string][]string{
	ebpf: {"NewMap", "NewMapWithOptions", "NewProgram", "NewProgramWithOptions", "NewCollection",
		"NewCollectionWithOptions", "LoadCollection", "NewMapFromID", "NewProgramFromID", "NewProgramFromFD",
		"EnableStats"},
	ebpf + "/link":    {""},
	ebpf + "/ringbuf": {""},
	ebpf + "/perf":    {""},
	unix: {"Mmap", "MmapPtr", "PerfEventOpen", "EpollCreate1", "Eventfd", "PidfdOpen", "MemfdCreate",
		"TimerfdCreate", "Open", "Openat", "Socket"},
}

func TestDescriptorHolders(t *testing.T) {
	for _, f := range productFiles(t) {
		if slices.ContainsFunc(holders, func(holder string) bool { return within(f.folder, holder) }) {
			continue
		}
		names := f.importNames(t)
		ast.Inspect(f.ast, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := selector.X.(*ast.Ident); ok {
				functions := makers[names[of.Name]]
				if slices.Contains(functions, selector.Sel.Name) || slices.Contains(functions, "") {
					t.Errorf("%s: %s.%s makes a descriptor: only %s may", f.position(n), of.Name, selector.Sel.Name,
						strings.Join(holders, ", "))
				}
			}
			return true
		})
	}
}

// starters are where goroutines are started: the session, and those that another file gives its reason for.
var starters = map[string]string{
	"internal/session":                "it owns the run",
	"internal/changes":                "what the kernel tells of modules, files, CPUs and cgroups comes at any time",
	"internal/output/output.go":       "a write to a pipe that nobody reads does not come back",
	"internal/prompt":                 "signals, and what the command of -c prints, come at any time",
	"internal/line":                   "keys, liner and what liner prints come at any time",
	"internal/target/target.go":       "the command and the process end at any time",
	"internal/attach/loaded.go":       "closing thousands of links one by one waits for a grace period each",
	"internal/memory/last.go":         "the kernel ends a run for want of memory while another goroutine computes",
	"internal/world/caller.go":        "a thread that has another user is not used again",
	"internal/unwind":                 "files are read, and the kernel is waited for, beside the events",
	"internal/until/later.go":         "what takes long must not keep a run from its end",
	"internal/listing/writepoints.go": "the arguments of all functions are some 800,000 lines",
	"test":                            "programs of the tests",
}

func TestGoroutineStarters(t *testing.T) {
	for _, f := range productFiles(t) {
		allowed := false
		for place := range starters {
			allowed = allowed || within(f.name, place)
		}
		if allowed {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if startsGoroutine(n) {
				t.Errorf("%s: a goroutine is started here, and no reason is given", f.position(n))
			}
			return true
		})
	}
}

// startsGoroutine finds go statements and calls as WaitGroup.Go(f).
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		selector, ok := n.Fun.(*ast.SelectorExpr)
		return ok && selector.Sel.Name == "Go" && len(n.Args) == 1
	}
	return false
}

// sourceFile is one parsed Go file.
type sourceFile struct {
	name, folder string // from the root of the module
	set          *token.FileSet
	ast          *ast.File
	text         string
}

func (f sourceFile) position(n ast.Node) token.Position { return f.set.Position(n.Pos()) }

// importNames maps the names by which a file knows its imports to their paths.
func (f sourceFile) importNames(t *testing.T) map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}

// goFiles are the Go files of the module, which all tests share and none changes.
func goFiles(t *testing.T) []sourceFile {
	t.Helper()
	files, err := parsedFiles()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("found no Go files")
	}
	return files
}

// parsedFiles parses every Go file of the module, once.
var parsedFiles = sync.OnceValues(func() (files []sourceFile, err error) {
	set := token.NewFileSet()
	err = fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, sourceFile{name, path.Dir(name), set, parsed, string(text)})
		return nil
	})
	return files, err
})

// productFiles are the files that are not tests.
func productFiles(t *testing.T) []sourceFile {
	return slices.DeleteFunc(slices.Clone(goFiles(t)), func(f sourceFile) bool {
		return strings.HasSuffix(f.name, "_test.go")
	})
}

// atTop is what stands at the top of the project, beside the tests of its whole and what begins with a dot.
var atTop = []string{"CONTRIBUTING.md", "Makefile", "README.md", "bin", "bpfgen", "builtins", "cmd", "docs", "examples",
	"go.mod", "go.sum", "internal", "starlark", "stdlib", "test"}

// Nothing else lies there, as what somebody has tried, and has then committed.
func TestTop(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, "_test.go") && !slices.Contains(atTop, name) {
			t.Errorf("%s lies at the top of the project: want it in a folder of its own, or in atTop", name)
		}
	}
}
