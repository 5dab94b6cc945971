package kernel

import (
	"bytes"
	"slices"
	"strings"
)

// An Iterator is a kind of objects of which the kernel can give a program each
// one (5.8).
type Iterator struct {
	Name   string
	Func   TypeID  // the function of BTF by which programs are attached to it
	Params []Param // what the program gets, without the first: struct bpf_iter_meta *
}

// NoIteratorError says that this kernel does not have an iterator.
type NoIteratorError struct{ Name, Near string }

func (e *NoIteratorError) Error() string {
	s := "this kernel has no iterator " + e.Name
	if e.Near != "" {
		s += " (did you mean " + e.Near + "?)"
	}
	return s
}

// iterPrefix begins the functions that DEFINE_BPF_ITER_FUNC makes
// (include/linux/bpf.h): int bpf_iter_NAME(struct bpf_iter_meta *meta, …).
const iterPrefix = "bpf_iter_"

// Iterator finds an iterator by its name.
func (f *Facts) Iterator(name string) (*Iterator, error) {
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	if id, ok := b.Named(KindFunc, iterPrefix+name); ok {
		if it, ok := b.iterator(id); ok {
			return &it, nil
		}
	}
	var names []string
	for _, it := range b.iterators() {
		names = append(names, it.Name)
	}
	return nil, &NoIteratorError{name, Suggest(name, names)}
}

// MatchIterators gives the iterators whose names match, sorted. Those of modules
// are not among them: their BTF is in other files.
func (f *Facts) MatchIterators(glob string) ([]Iterator, error) {
	g, err := CompileGlob(glob)
	if err != nil {
		return nil, err
	}
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(b.iterators(), func(it Iterator) bool { return !g.Match(it.Name) }), nil
}

func (b *BTF) iterators() (out []Iterator) {
	b.each(func(id TypeID, kind int, r typeRecord) {
		if kind != btfFunc || !bytes.HasPrefix(b.bytesAt(r.name()), []byte(iterPrefix)) {
			return
		}
		if it, ok := b.iterator(id); ok {
			out = append(out, it)
		}
	})
	slices.SortFunc(out, func(a, b Iterator) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b Iterator) bool { return a.Name == b.Name })
}

// iterator tells an iterator from other functions with the prefix by its first
// parameter and its result: bpf_iter_get_info has the first, too.
func (b *BTF) iterator(id TypeID) (Iterator, bool) {
	r := b.record(id)
	proto := b.record(r.ref())
	if proto == nil || proto.kind() != btfProto || proto.vlen() < 1 {
		return Iterator{}, false
	}
	params := b.params(proto)
	if params[0].Name != "meta" || b.TypeName(params[0].Type) != "struct bpf_iter_meta *" ||
		b.TypeName(proto.ref()) != "int" {
		return Iterator{}, false
	}
	return Iterator{Name: strings.TrimPrefix(b.string(r.name()), iterPrefix), Func: id, Params: params[1:]}, true
}
