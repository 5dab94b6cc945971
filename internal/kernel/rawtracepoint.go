package kernel

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/naming"
)

// Raw tracepoints and their arguments by BTF.

// A RawTracepoint is a tracepoint, by its Name, with the arguments that its call site passes, Params: argument i is the
// i-th u64 of the program's context.
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
	id, module, ok := f.rawTracepointType(b, name)
	if !ok {
		return nil, &NoPointError{"raw tracepoint", name, naming.Suggest(name, b.rawTracepoints())}
	}
	params, ok := b.protoParams(id)
	if !ok {
		return nil, &NoPointError{Kind: "raw tracepoint", Name: name}
	}
	if module != nil {
		if fn, ok := module.named(b, KindFunc, traceiter+name); ok {
			fillNames(params, b.funcParamNames(fn))
		}
	}
	b.nameParams(name, params)
	return &RawTracepoint{Name: name, Params: params}, nil
}

// rawTracepointType finds the typedef of a raw tracepoint in the kernel, then in
// the loaded modules.
func (f *Facts) rawTracepointType(b *BTF, name string) (TypeID, *moduleBTF, bool) {
	if id, ok := b.Named(KindTypedef, btfTrace+name); ok {
		return id, nil, true
	}
	for _, m := range f.loadedModules() {
		if id, ok := m.named(b, KindTypedef, btfTrace+name); ok {
			return id, m, true
		}
	}
	return 0, nil, false
}

// loadedModules are the modules whose types can be read.
func (f *Facts) loadedModules() (out []*moduleBTF) {
	for _, name := range f.moduleNames() {
		if m, err := f.module(name); err == nil {
			out = append(out, m)
		}
	}
	return out
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

// nameParams fills in the names that the prototype of a typedef lacks (gcc
// drops them), from the functions that the kernel makes for the same
// tracepoint, then from a table, then by position.
func (b *BTF) nameParams(name string, params []Param) {
	if allNamed(params) {
		return
	}
	b.once.traceiters.Do(b.indexTraceiters)
	if id, ok := b.findNamed(&b.traceiters, KindFunc, traceiter+name); ok {
		fillNames(params, b.funcParamNames(id))
	}
	if !allNamed(params) {
		fillNames(params, knownParams(name))
	}
	for i := range params {
		if params[i].Name == "" {
			params[i].Name = "arg" + strconv.Itoa(i)
		}
	}
}

func allNamed(params []Param) bool {
	return !slices.ContainsFunc(params, func(p Param) bool { return p.Name == "" })
}

// fillNames gives names to the parameters that have none, if their number fits.
func fillNames(params []Param, names []string) {
	if len(names) != len(params) {
		return
	}
	for i := range params {
		if params[i].Name == "" {
			params[i].Name = names[i]
		}
	}
}

// funcParamNames gives the names of a function's parameters but the first.
func (b *BTF) funcParamNames(fn TypeID) []string {
	proto := b.record(b.record(fn).ref())
	if proto == nil || proto.kind() != btfProto || proto.vlen() < 1 {
		return nil
	}
	var out []string
	for _, p := range b.params(proto)[1:] {
		out = append(out, p.Name)
	}
	return out
}

// indexTraceiters fills the index of these functions alone, which is less work than that of all functions.
func (b *BTF) indexTraceiters() {
	var found []TypeID
	functionsThatBegin(b, traceiter, func(id TypeID, _ byte) { found = append(found, id) })
	b.traceiters = newNameIndex(len(found))
	for _, id := range found {
		b.traceiters.add(b.bytesAt(b.record(id).name()), id)
	}
}

// rawTracepointText names the parameters of the tracepoints that have no
// function in the BTF of 5.10 (Debian's: those whose functions may not be
// traced), from include/trace/events/power.h, rpm.h and kernel/trace/bpf_trace.h.
//
//go:embed tables/rawtracepoints.txt
var rawTracepointText string

func knownParams(name string) []string {
	for line := range strings.Lines(rawTracepointText) {
		if words := strings.Fields(line); len(words) > 0 && words[0] == name {
			return words[1:]
		}
	}
	return nil
}

// MatchRawTracepoints gives the raw tracepoints whose names match, sorted, with
// those of loaded modules.
func (f *Facts) MatchRawTracepoints(glob string) ([]string, error) {
	g, err := naming.Compile(glob)
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
			_, _, has := f.rawTracepointType(b, n)
			return !has
		}), nil
	}
	all := b.rawTracepoints()
	for _, m := range f.loadedModules() {
		all = append(all, m.rawTracepoints(b)...)
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(n string) bool { return !g.Match(n) }), nil
}

func (b *BTF) rawTracepoints() []string { return b.tracesOf(b) }

func (m *moduleBTF) rawTracepoints(b *BTF) []string { return b.tracesOf(&m.part) }

// tracesOf are the raw tracepoints among the types of a part.
func (b *BTF) tracesOf(part *BTF) []string {
	var out []string
	part.each(func(_ TypeID, kind int, r typeRecord) {
		if kind != btfTypedef {
			return
		}
		if name := b.bytesAt(r.name()); len(name) > len(btfTrace) && string(name[:len(btfTrace)]) == btfTrace {
			out = append(out, string(name[len(btfTrace):]))
		}
	})
	slices.Sort(out)
	return slices.Compact(out)
}
