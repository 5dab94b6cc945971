package kernel

import (
	"slices"
	"strings"
)

// A RawTracepoint is a tracepoint with the arguments that its call site
// passes: argument i is the i-th u64 of the program's context.
type RawTracepoint struct {
	Name   string
	Params []Param
}

// btfTrace is the prefix of the typedef that include/trace/bpf_probe.h makes
// for each tracepoint: typedef void (*btf_trace_NAME)(void *, ARGS).
const btfTrace = "btf_trace_"

// RawTracepoint finds the arguments of a raw tracepoint in BTF.
func (f *Facts) RawTracepoint(name string) (*RawTracepoint, error) {
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	id, ok := b.Named(KindTypedef, btfTrace+name)
	if !ok {
		return nil, &NoTracepointError{Name: name, Near: Suggest(name, b.rawTracepoints())}
	}
	params, ok := b.protoParams(id)
	if !ok {
		return nil, &NoTracepointError{Name: name}
	}
	b.nameParams(name, params)
	return &RawTracepoint{Name: name, Params: params}, nil
}

// protoParams gives the parameters behind typedef → pointer → prototype
// without the first, the void * of the probe's own data.
func (b *BTF) protoParams(typedef TypeID) ([]Param, bool) {
	ptr := b.record(b.Skip(typedef))
	if ptr == nil || ptr.kind() != btfPtr {
		return nil, false
	}
	proto := b.record(b.Skip(ptr.ref()))
	if proto == nil || proto.kind() != btfProto || proto.vlen() < 1 {
		return nil, false
	}
	return b.params(proto)[1:], true
}

// nameParams fills in the names that a prototype of a typedef may lack
// (clang keeps them, gcc does not) from the functions that the kernel makes
// for the same tracepoint.
func (b *BTF) nameParams(name string, params []Param) {
	if !slices.ContainsFunc(params, func(p Param) bool { return p.Name == "" }) {
		return
	}
	for _, prefix := range []string{"__bpf_trace_", "__traceiter_", "__probestub_"} {
		id, ok := b.Named(KindFunc, prefix+name)
		if !ok {
			continue
		}
		proto := b.record(b.record(id).ref())
		if proto == nil || proto.kind() != btfProto || proto.vlen() != len(params)+1 {
			continue
		}
		for i, p := range b.params(proto)[1:] {
			if params[i].Name == "" {
				params[i].Name = p.Name
			}
		}
	}
}

// MatchRawTracepoints gives the raw tracepoints whose names match, sorted.
// Those of modules are not among them: their BTF is in other files.
func (f *Facts) MatchRawTracepoints(glob string) ([]string, error) {
	g, err := CompileGlob(glob)
	if err != nil {
		return nil, err
	}
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	if list, ok := g.Expand(); ok {
		slices.Sort(list)
		return slices.DeleteFunc(list, func(n string) bool {
			_, has := b.Named(KindTypedef, btfTrace+n)
			return !has
		}), nil
	}
	return slices.DeleteFunc(b.rawTracepoints(), func(n string) bool { return !g.Match(n) }), nil
}

func (b *BTF) rawTracepoints() []string {
	var out []string
	b.each(func(_ TypeID, r record) {
		if r.kind() != btfTypedef {
			return
		}
		if name := b.bytesAt(r.name()); len(name) > len(btfTrace) && string(name[:len(btfTrace)]) == btfTrace {
			out = append(out, string(name[len(btfTrace):]))
		}
	})
	slices.SortFunc(out, strings.Compare)
	return slices.Compact(out)
}
