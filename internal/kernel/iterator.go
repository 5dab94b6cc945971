package kernel

import (
	"bytes"
	"strings"
)

// Iterators (iter:) and their arguments, found in BTF.

// iterPrefix begins the functions that DEFINE_BPF_ITER_FUNC makes
// (include/linux/bpf.h): int bpf_iter_NAME(struct bpf_iter_meta *meta, …).
const iterPrefix = "bpf_iter_"

// MatchIterators gives the iterators whose names match, sorted: kinds of objects of which the kernel can give a program
// each one (5.8). Their parameters are what the program gets without the first, struct bpf_iter_meta *. Those of
// modules are not among them: their BTF is in other files.
func (f *Facts) MatchIterators(glob string) ([]TypedPoint, error) {
	return f.matchTyped("iterator", glob, (*BTF).iterators)
}

func (b *BTF) iterators() (out []TypedPoint) {
	b.each(func(id TypeID, kind int, r typeRecord) {
		if kind != btfFunc || !bytes.HasPrefix(b.bytesAt(r.name()), []byte(iterPrefix)) {
			return
		}
		if it, ok := b.iterator(id); ok {
			out = append(out, it)
		}
	})
	return out
}

// iterator tells an iterator from other functions with the prefix by its first
// parameter and its result: bpf_iter_get_info has the first, too.
func (b *BTF) iterator(id TypeID) (TypedPoint, bool) {
	r := b.record(id)
	proto := b.record(r.ref())
	if proto == nil || proto.kind() != btfProto || proto.vlen() < 1 {
		return TypedPoint{}, false
	}
	params := b.params(proto)
	if params[0].Name != "meta" || b.TypeName(params[0].Type) != "struct bpf_iter_meta *" ||
		b.TypeName(proto.ref()) != "int" {
		return TypedPoint{}, false
	}
	return TypedPoint{Name: strings.TrimPrefix(b.string(r.name()), iterPrefix), Func: id, Params: params[1:]}, true
}
