package binary

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/startrace/startrace/internal/dwarffile"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usertypes"
)

// Arguments and results of functions by debug information, and whether the compiler has moved them (`toldAtStart`).

// Signature gives what debug information says of a function's arguments and result; nil
// where there is none, or where it does not tell. What is damaged tells nothing: a probe
// without types is as good as one of a program without them.
func (f *Finder) Signature(at *File, fn Function) *signature.Signature {
	e := f.open[at.Path]
	if e == nil || fn.Inside != 0 {
		return nil
	}
	addr, ok := e.Addr(fn.Start)
	if !ok {
		return nil
	}
	s := f.Types(at, addr)
	if of, is := thunkOf(e, addr); is {
		s = f.Types(at, of.Addr).OfThunk()
	}
	if s != nil && fn.Local {
		s = s.After(s.Local)
	}
	return f.toldAtStart(at, addr, s.After(fn.Alteration))
}

// Types is Signature by the address of a function that is no clone.
func (f *Finder) Types(at *File, addr uint64) *signature.Signature {
	table := f.described(at)
	own := table != nil
	if table == nil {
		table = f.prototypes(at)
	}
	if f.onStack(at, addr) {
		if table == nil {
			return signature.OnStackUnsaid(runtime.GOARCH)
		}
		s, err := table.OnStack(addr)
		if s == nil || err != nil {
			return signature.OnStackUnsaid(runtime.GOARCH)
		}
		return s
	}
	if table == nil {
		return nil
	}
	s, err := table.Of(addr)
	if err != nil {
		s = nil
	}
	if own {
		s = f.asInHeaders(at, addr, s)
	}
	return s
}

// onStack reports whether a function is one of Go that is called with all on the stack.
func (f *Finder) onStack(at *File, addr uint64) bool {
	e := f.open[at.Path]
	if e == nil {
		return false
	}
	fn, ok := e.At(addr)
	return ok && e.Language(fn) == elffile.LanguageGoOnStack
}

// Split gives the name of the file that has the debug information of a function, and why that is not known; "" where it
// is known, or nobody has it.
func (f *Finder) Split(at *File, fn Function) (name, why string) {
	e, table := f.open[at.Path], f.described(at)
	if missing := f.missing[at.Path]; missing != nil {
		return missing.Name, missing.Why
	}
	if e == nil || table == nil {
		return "", ""
	}
	addr, ok := e.Addr(fn.Start)
	if !ok {
		return "", ""
	}
	lost, is := table.Data().Split(addr)
	if _, err := table.Of(addr); !is && err != nil {
		lost, _ = table.Data().Damaged(addr)
	}
	return lost.Name, lost.Why
}

// Type gives the type at a place in the debug information of a file, of which Signature spoke, as one of btf.
func (f *Finder) Type(at *File, off dwarf.Offset, btf *kernel.BTF) (kernel.TypeID, error) {
	t, err := f.typesOf(at, btf)
	if off&inHeaders != 0 {
		t, off = f.typesOfHeaders(at, btf), off&^inHeaders
	}
	if err != nil {
		return 0, err
	}
	id, err := t.At(off)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", at.Name, err)
	}
	return id, nil
}

// TypeNamed gives the type of a name in a file: "struct order".
func (f *Finder) TypeNamed(file, name string, btf *kernel.BTF) (kernel.TypeID, error) {
	e, at, err := f.file(file)
	if err != nil {
		return 0, err
	}
	if f.signatures(at.Path, e) == nil {
		return 0, f.withoutDebugInfo(at)
	}
	t, err := f.typesOf(at, btf)
	if err != nil {
		return 0, err
	}
	id, ok, err := t.Named(name)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", at.Name, err)
	case !ok:
		return 0, inSourceLost(f.tables[at.Path].Data(), fmt.Errorf("%s has no type %s", at.Name, name))
	}
	return id, nil
}

// typesOf are the types of a file whose debug information was looked for.
func (f *Finder) typesOf(at *File, btf *kernel.BTF) (*usertypes.Types, error) {
	if t := f.types[at.Path]; t != nil {
		return t, nil
	}
	table := f.tables[at.Path]
	if table == nil {
		table = f.prototypes(at)
	}
	if table == nil {
		return nil, f.withoutDebugInfo(at)
	}
	t := usertypes.New(table.Data(), btf)
	if r, ok := f.goRuntime(at); ok {
		t.Golang(r)
	}
	if f.types == nil {
		f.types = map[string]*usertypes.Types{}
	}
	f.types[at.Path] = t
	return t, nil
}

// debugFile is the file that has the debug information of one: itself, or its debug file; nil where none can be read.
func (f *Finder) debugFile(path string, e *elffile.File) *elffile.File {
	if d, known := f.debug[path]; known {
		return d
	}
	d, err := e.WithDebugInfo()
	if err != nil {
		d = nil // damaged
	}
	if d != nil && d != e {
		f.open[d.Path] = d // it is read as long as there are questions
	}
	if f.debug == nil {
		f.debug = map[string]*elffile.File{}
	}
	f.debug[path] = d
	return d
}

// openSignatures gives nil where there is no debug information.
func (f *Finder) openSignatures(path string, e *elffile.File) (*signature.Functions, error) {
	debug := f.debugFile(path, e)
	if debug == nil {
		return nil, nil
	}
	opener := dwarffile.Opener{Program: e, Debug: debug, Keep: func(other *elffile.File) {
		f.others = append(f.others, other)
	}}
	d, err := opener.Open()
	return signature.New(runtime.GOARCH, d), err
}

// described are the functions of a file that is open, as its debug information tells of them; nil where it has none.
func (f *Finder) described(at *File) *signature.Functions {
	e := f.open[at.Path]
	if e == nil {
		return nil
	}
	return f.signatures(at.Path, e)
}

// signatures opens the debug information of a file, of its own or in its debug file.
func (f *Finder) signatures(path string, e *elffile.File) *signature.Functions {
	t, known := f.tables[path]
	if known {
		return t
	}
	t, err := f.openSignatures(path, e)
	if err != nil {
		t = nil // damaged
	}
	if missing := (*dwarffile.MissingError)(nil); errors.As(err, &missing) {
		if f.missing == nil {
			f.missing = map[string]*dwarffile.MissingError{}
		}
		f.missing[path] = missing
	}
	if f.tables == nil {
		f.tables = map[string]*signature.Functions{}
	}
	f.tables[path] = t
	return t
}

// Changed is what debug information says of the function at an address, whose calls a compiler may have changed: where
// the ABI does not tell any more where an argument is, it is where debug information has it at the first instruction.
func (f *Finder) Changed(at *File, addr uint64, by signature.Alteration) *signature.Signature {
	return f.toldAtStart(at, addr, f.Types(at, addr).After(by))
}

// toldAtStart gives arguments without a place that of the debug information.
func (f *Finder) toldAtStart(at *File, addr uint64, s *signature.Signature) *signature.Signature {
	if s == nil || !slices.ContainsFunc(s.Arguments, placeless) {
		return s
	}
	l := f.knownLocals(at)
	if l == nil {
		return s
	}
	list, err := l.AtStart(addr)
	if err != nil { // what is damaged tells nothing
		return s
	}
	out := *s
	out.Arguments = slices.Clone(s.Arguments)
	for i := range out.Arguments {
		for k := range list {
			if v := &out.Arguments[i]; placeless(*v) && v.Name == list[k].Name && v.Type == list[k].Type {
				v.Put(list[k].Place)
			}
		}
	}
	return &out
}

func placeless(v signature.Value) bool { return len(v.Pieces) == 0 && v.Name != "" }
