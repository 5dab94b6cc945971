package kernel

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Function is a function of the kernel or of a module.
type Function struct {
	Name   string
	Module string // "" for the kernel proper
	// ID is the function in BTF, 0 where that does not have it: then its arguments
	// have no names and no types.
	ID TypeID
	// BTF is its number for the kernel, in the BTF of Module.
	BTF    uint32
	Params []Param
	// Ret is the type of the result, 0 for void or unknown.
	Ret TypeID
}

// A NoFunctionError says that the kernel has no function of that name that
// could be probed.
type NoFunctionError struct {
	Name, Near string
	Module     string // "" if none was named
}

func (e *NoFunctionError) Error() string {
	s := "this kernel has no function " + e.Name
	if e.Module != "" {
		s = "the module " + e.Module + " has no function " + e.Name
	}
	if e.Near != "" {
		s += " (did you mean " + e.Near + "?)"
	}
	return s + "; it may have been inlined everywhere, or have another name in this version"
}

// Function finds a function by its name. The kernel's BTF is asked first,
// because that is quick; then the list of functions.
func (f *Facts) Function(name string) (*Function, error) {
	if fn := f.typedFunction(functionName{name: name}); fn.ID != 0 {
		return fn, nil
	}
	names, err := f.functionNames()
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		if n.name == name {
			return f.typedFunction(n), nil
		}
	}
	return nil, &NoFunctionError{Name: name, Near: suggestFunction(name, names)}
}

// suggestFunction compares only with names that begin alike: there are some
// 70,000.
func suggestFunction(name string, names []functionName) string {
	var near []string
	for _, n := range names {
		if len(name) > 2 && strings.HasPrefix(n.name, name[:2]) {
			near = append(near, n.name)
		}
	}
	return Suggest(name, near)
}

// MatchFunctions gives the functions whose names match, sorted by name. Of
// functions with the same name there is one.
func (f *Facts) MatchFunctions(glob string) ([]*Function, error) {
	g, err := CompileGlob(glob)
	if err != nil {
		return nil, err
	}
	if list, ok := g.Expand(); ok {
		return f.functionsNamed(list)
	}
	names, err := f.functionNames()
	if err != nil {
		return nil, err
	}
	var out []*Function
	for _, n := range names {
		if g.Match(n.name) {
			out = append(out, f.typedFunction(n))
		}
	}
	return out, nil
}

// functionsNamed gives those of a list of names that the kernel has.
func (f *Facts) functionsNamed(list []string) ([]*Function, error) {
	var out []*Function
	for _, name := range list {
		fn, err := f.Function(name)
		var none *NoFunctionError
		switch {
		case errors.As(err, &none) && len(list) > 1:
			continue
		case err != nil:
			return nil, err
		}
		out = append(out, fn)
	}
	return out, nil
}

// typedFunction adds what BTF knows.
func (f *Facts) typedFunction(n functionName) *Function {
	fn := &Function{Name: n.name, Module: n.module}
	b, err := f.BTF()
	if err != nil {
		return fn
	}
	id, number, ok := f.functionType(b, n)
	if !ok {
		return fn
	}
	proto := b.record(b.record(id).ref())
	if proto == nil || proto.kind() != btfProto {
		return fn
	}
	fn.ID, fn.BTF, fn.Params, fn.Ret = id, number, b.params(proto), proto.ref()
	return fn
}

// functionType finds a function in the BTF of the kernel or of its module;
// number is the kernel's own.
func (f *Facts) functionType(b *BTF, n functionName) (id TypeID, number uint32, ok bool) {
	if n.module == "" {
		id, ok = b.Named(KindFunc, n.name)
		return id, uint32(id), ok
	}
	m, err := f.module(n.module)
	if err != nil {
		return 0, 0, false // then its arguments have no types: modules can be built without
	}
	id, ok = m.named(b, KindFunc, n.name)
	return id, uint32(id - m.raised), ok
}

// A functionName is a line of the list of functions.
type functionName struct{ name, module string }

// functionNames gives the functions that can be probed, sorted, once each:
// those that ftrace knows, or, where the kernel does not show these, the text
// symbols of /proc/kallsyms, of which not all can be.
func (f *Facts) functionNames() ([]functionName, error) {
	f.functionsOnce.Do(func() { f.functions, f.functionsErr = f.readFunctions() })
	return f.functions, f.functionsErr
}

// filterFunctions is the file of tracefs that lists them (CONFIG_DYNAMIC_FTRACE).
const filterFunctions = "available_filter_functions"

func (f *Facts) readFunctions() ([]functionName, error) {
	dir, err := f.TracefsPath()
	if err == nil {
		var file *os.File
		if file, err = os.Open(filepath.Join(dir, filterFunctions)); err == nil {
			defer file.Close()
			return readFilterFunctions(file)
		}
	}
	if f.opts.TracefsPath != "" {
		return nil, nil // a fixture
	}
	if errors.Is(err, fs.ErrPermission) {
		err = permissionError(filepath.Join(dir, filterFunctions))
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrPermission) && !errors.Is(err, ErrNoTracefs) {
		return nil, err
	}
	s, symbolsErr := f.Symbols()
	if symbolsErr == nil {
		return s.functions(), nil
	}
	return nil, fmt.Errorf("list the kernel's functions: %w; nor can the symbols be taken: %w", err, symbolsErr)
}

// readFilterFunctions parses lines `name` and `name [module]`
// (kernel/trace/ftrace.c, t_show).
func readFilterFunctions(r io.Reader) ([]functionName, error) {
	var out []functionName
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, module, _ := strings.Cut(lines.Text(), " [")
		module = strings.TrimSuffix(module, "]")
		// Placeholders of functions that were left out (5.19).
		if name != "" && !strings.HasPrefix(name, "__ftrace_invalid_address__") {
			out = append(out, functionName{name, module})
		}
	}
	return sortFunctions(out), lines.Err()
}

func sortFunctions(list []functionName) []functionName {
	slices.SortFunc(list, func(a, b functionName) int {
		if order := strings.Compare(a.name, b.name); order != 0 {
			return order
		}
		return strings.Compare(a.module, b.module) // the kernel's own first
	})
	return slices.CompactFunc(list, func(a, b functionName) bool { return a.name == b.name })
}

// functions are the symbols that the kernel's linker put into code.
func (s *Symbols) functions() []functionName {
	var out []functionName
	for i := range s.addrs {
		if !s.code[i] {
			continue
		}
		// Loaded BPF programs, and trampolines of ftrace, kprobes and static calls
		// (kernel/kallsyms.c, get_ksym_bpf and its neighbours) are no functions.
		if sym := s.at(i); sym.Module != "bpf" && !strings.HasPrefix(sym.Module, "__builtin__") {
			out = append(out, functionName{sym.Name, sym.Module})
		}
	}
	return sortFunctions(out)
}
