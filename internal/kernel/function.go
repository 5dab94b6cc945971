package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// Functions of the kernel and its modules by names and patterns, and messages when there is none.

// A Function is a function of the kernel or of a module.
type Function struct {
	// Name is as in /proc/kallsyms; part of it may be a suffix of the compiler (.isra.0).
	Name   string
	Module string // "" for the kernel proper
	// ID is the function in BTF, 0 where that does not have it: then its arguments
	// have no names and no types.
	ID TypeID
	// BTF is its number for the kernel, in the BTF of Module.
	BTF uint32
	// Params are the parameters with their types; nil without an ID.
	Params []Param
	// Ret is the type of the result, 0 for void or unknown.
	Ret TypeID
	// types are those that have ID; nil where there is none.
	types *BTF
}

// A NoFunctionError says that the kernel has no function Name that could be probed. Near is a similar name that it has,
// or "".
type NoFunctionError struct {
	Name, Near string
	Module     string // "" if none was named
}

func (e *NoFunctionError) Error() string {
	s := "this kernel has no function " + e.Name
	if e.Module != "" {
		s = "the module " + e.Module + " has no function " + e.Name
	}
	return s + orNear(e.Near) + "; it may have been inlined everywhere, or have another name in this version"
}

// Function finds a function by its name.
func (f *Facts) Function(name string) (*Function, error) {
	n, err := f.functionName(name)
	if err != nil {
		return nil, err
	}
	return f.Typed(n), nil
}

// functionName finds a function in the kernel's BTF first, because that is quick;
// then in the list of functions.
func (f *Facts) functionName(name string) (FunctionName, error) {
	if n := (FunctionName{Name: name}); f.Typed(n).ID != 0 {
		return n, nil
	}
	names, err := f.functionNames()
	if err != nil {
		return FunctionName{}, err
	}
	if n, found := findFunction(names, name); found {
		return n, nil
	}
	if n, found := f.unlistedFunction(names, name); found {
		return n, nil
	}
	return FunctionName{}, &NoFunctionError{Name: name, Near: suggestFunction(name, names)}
}

func findFunction(names []FunctionName, name string) (FunctionName, bool) {
	i, found := slices.BinarySearchFunc(names, name, func(n FunctionName, name string) int {
		return strings.Compare(n.Name, name)
	})
	if !found {
		return FunctionName{}, false
	}
	return names[i], true
}

// unlistedFunction finds a function that only the kernel's symbols have: another name
// of one that is in the list, since that has one name of each address, or one that is
// not in it. Whether the kernel probes that is its word.
func (f *Facts) unlistedFunction(names []FunctionName, name string) (FunctionName, bool) {
	symbols, err := f.Symbols()
	if err != nil {
		return FunctionName{}, false
	}
	also, module, found := symbols.sameCode(name)
	if !found {
		return FunctionName{}, false
	}
	out := FunctionName{Name: name, Module: module}
	for _, other := range also {
		if n, listed := findFunction(names, other); listed {
			return FunctionName{Name: name, Module: n.Module, As: n.Name}, true
		}
		if f.Typed(FunctionName{Name: other, Module: module}).ID != 0 {
			out.As = other
		}
	}
	return out, true
}

// suggestFunction compares only with names that begin alike: there are some
// 70,000.
func suggestFunction(name string, names []FunctionName) string {
	var near []string
	for _, n := range names {
		if len(name) > 2 && strings.HasPrefix(n.Name, name[:2]) {
			near = append(near, n.Name)
		}
	}
	return naming.Suggest(name, near)
}

// MatchFunctions gives the functions whose names match, sorted by name. Of
// functions with the same name there is one.
func (f *Facts) MatchFunctions(glob string) ([]*Function, error) { return f.MatchFunctionsOf("", glob) }

// MatchFunctionsOf is MatchFunctions for a module; "" are all, theKernel those of
// none.
func (f *Facts) MatchFunctionsOf(module, glob string) ([]*Function, error) {
	names, err := f.MatchFunctionNames(module, glob)
	if err != nil {
		return nil, err
	}
	var out []*Function
	for _, n := range names {
		out = append(out, f.Typed(n))
	}
	return out, nil
}

// MatchFunctionNames is MatchFunctionsOf without the types.
func (f *Facts) MatchFunctionNames(module, glob string) ([]FunctionName, error) {
	g, err := naming.Compile(glob)
	if err != nil {
		return nil, err
	}
	if list, ok := g.Expand(); ok && module == "" {
		return f.functionsNamed(list)
	}
	names, err := f.functionNames()
	if err != nil {
		return nil, err
	}
	if module != "" {
		names = functionsOf(module, names)
	}
	var out []FunctionName
	for _, n := range names {
		if g.Match(n.Name) {
			out = append(out, n)
		}
	}
	if len(out) == 0 && module != "" && !naming.IsPattern(glob) {
		return nil, &NoFunctionError{Name: glob, Near: suggestFunction(glob, names), Module: module}
	}
	return out, nil
}

// functionsNamed gives those of a list of names that the kernel has.
func (f *Facts) functionsNamed(list []string) ([]FunctionName, error) {
	var out []FunctionName
	for _, name := range list {
		n, err := f.functionName(name)
		var none *NoFunctionError
		switch {
		case errors.As(err, &none) && len(list) > 1:
			continue
		case err != nil:
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// Typed adds what BTF knows.
func (f *Facts) Typed(n FunctionName) *Function {
	fn := &Function{Name: n.Name, Module: n.Module}
	b, err := f.BTF()
	if err != nil {
		return fn
	}
	id, number, ok := f.functionType(b, n)
	if as := (FunctionName{Name: n.As, Module: n.Module}); !ok && n.As != "" {
		id, number, ok = f.functionType(b, as)
	}
	if !ok {
		return fn
	}
	proto := b.record(b.record(id).ref())
	if proto == nil || proto.kind() != btfProto {
		return fn
	}
	fn.ID, fn.BTF, fn.Params, fn.Ret, fn.types = id, number, b.params(proto), proto.ref(), b
	return fn
}

// functionType finds a function in the BTF of the kernel or of its module;
// number is the kernel's own.
func (f *Facts) functionType(b *BTF, n FunctionName) (id TypeID, number uint32, ok bool) {
	if n.Module == "" {
		id, ok = b.Named(KindFunc, n.Name)
		return id, uint32(id), ok
	}
	m, err := f.module(n.Module)
	if err != nil {
		return 0, 0, false // then its arguments have no types: modules can be built without
	}
	id, ok = m.named(b, KindFunc, n.Name)
	return id, uint32(id - m.raised), ok
}

// functionNames gives the functions that can be probed, sorted, once each:
// those that ftrace knows, or, where the kernel does not show these, the text
// symbols of /proc/kallsyms, of which not all can be.
func (f *Facts) functionNames() ([]FunctionName, error) {
	f.functionsOnce.Do(func() { f.functions, f.functionsErr = f.readFunctions() })
	return f.functions, f.functionsErr
}

// filterFunctions is the file of tracefs that lists them (CONFIG_DYNAMIC_FTRACE).
const filterFunctions = "available_filter_functions"

func (f *Facts) readFunctions() ([]FunctionName, error) {
	if f.opts.Functions != nil {
		return f.opts.Functions(f)
	}
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
