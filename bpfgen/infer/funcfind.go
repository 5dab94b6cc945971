package infer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// Which functions of the kernel a pattern means, and how they are attached to.

// byMechanism replaces a way to attach that this kernel does not have by the
// next best.
func (u finder) byMechanism(t *target, fs *functions, p *plan.Pattern) []*target {
	has := u.facts.Features()
	switch fs.mech {
	case tree.AttachKprobe:
		if !has.Kprobe && u.facts.Trampolines().There && u.trampolines(fs) && fs.funcs[0].place.Offset == 0 {
			fs.mech = tree.AttachFentry
			u.notef(p.Pos, "%s: this kernel has no kprobes (%s), so trampolines (fentry) are used", p.Text,
				has.Why["kprobe"])
			break
		}
		u.mustHave(has.Kprobe, "kprobes", has.Why["kprobe"], p)
	case tree.AttachKretprobe:
		u.mustHave(has.Kprobe, "kprobes", has.Why["kprobe"], p)
	case tree.AttachFentry:
		if !u.facts.Trampolines().There || !u.trampolines(fs) {
			u.mustHave(has.Kprobe, "trampolines (fentry)", u.facts.Trampolines().Why, p)
			fs.mech = tree.AttachKprobe
			u.notef(p.Pos, "%s: %s, so kprobes are used", p.Text, u.whyNoTrampoline(fs))
		}
	case tree.AttachFexit:
		if !u.facts.Trampolines().There || !u.trampolines(fs) {
			u.mustHave(has.Kprobe, "trampolines (fexit)", u.facts.Trampolines().Why, p)
			u.notef(p.Pos, "%s: %s, so kprobes at entry and return are used", p.Text, u.whyNoTrampoline(fs))
			fs.mech = tree.AttachKprobe
			t.source = &functionCalls{functions: fs}
		}
	}
	return []*target{t}
}

// functionOffset splits FUNC+OFFSET.
func (u finder) functionOffset(p *plan.Pattern) (name string, offset uint64) {
	name, text, found := strings.Cut(p.Args[len(p.Args)-1], "+")
	if !found {
		return name, 0
	}
	if !point.Must(p.Provider).TakesOffset {
		wrong(p.Pos, "%s: only kprobe and uprobe take an offset", p.Text)
	}
	offset, err := strconv.ParseUint(text, 0, 64)
	if err == nil && offset == 0 {
		wrong(p.Pos, "%s: an offset of 0 is where the function begins: leave +%s out", p.Text, text)
	}
	if err != nil || offset > 1<<30 {
		wrong(p.Pos, "%s: the offset is a number of bytes, such as +16 or +0x10, got %q", p.Text, text)
	}
	if kernel.IsPattern(name) {
		wrong(p.Pos, "%s: an offset needs one function, not a pattern", p.Text)
	}
	return name, offset
}

// kernelFunctions gives the target of kprobe:NAME and its like.
func (u finder) kernelFunctions(p *plan.Pattern) []*target {
	if len(p.Args) > 1 && p.Args[0] == "bpf" {
		return u.bpfPrograms(p)
	}
	name, offset := u.functionOffset(p)
	name = name[strings.IndexByte(name, ':')+1:] // behind the module
	t := &target{name: name, text: p.Text, pos: p.Pos}
	if fs := u.kernelAddress(p, name); fs != nil {
		t.source, t.name = fs, "address"
		return u.byMechanism(t, fs, p)
	}
	fs := &functions{mech: kindOf(p).mech}
	t.source = fs
	if kernel.IsPattern(name) {
		t.name = p.Provider
	}
	u.mayProbe(p, name)
	for _, fn := range u.matchFunctions(p, name) {
		text := p.Provider + ":" + fn.Name
		if offset != 0 {
			text += fmt.Sprintf("+%#x", offset)
		}
		place := tree.Place{Func: fn.Name, Module: fn.Module, Offset: offset, BTF: fn.BTF}
		places := u.namesakes(p, place)
		if places == nil {
			places = []tree.Place{place}
		}
		for _, at := range places {
			f := &funcPoint{name: fn.Name, text: text, place: at, proto: fn}
			u.within(p, f)
			fs.funcs = append(fs.funcs, f)
		}
	}
	if offset != 0 {
		for _, f := range fs.funcs {
			f.inside, f.proto = true, nil
		}
	}
	return u.byMechanism(t, fs, p)
}

func (u finder) matchFunctions(p *plan.Pattern, name string) []*kernel.Function {
	if _, err := kernel.CompileGlob(name); err != nil {
		wrong(p.Pos, "%s: %v", p.Text, err)
	}
	module, _ := moduleOf(p)
	if kernel.IsPattern(module) {
		wrong(p.Pos, "%s: name one module; without one the functions of all are matched", p.Text)
	}
	list, err := u.facts.MatchFunctionsOf(module, name)
	if len(list) == 0 {
		u.mustBeModule(p, module)
	}
	if err != nil {
		wrong(p.Pos, "%s: %v", p.Text, err)
	}
	if len(list) == 0 {
		wrong(p.Pos, "no function of the kernel matches %s", p.Text)
	}
	if len(list) > maxFunctions {
		wrong(p.Pos, "%s matches %d functions; a probe takes at most %d: narrow the pattern", p.Text, len(list),
			maxFunctions)
	}
	return list
}

// noTrampoline says why a function cannot have a trampoline, "" if it can.
func (u finder) noTrampoline(f *funcPoint) string {
	if !f.typed() {
		return "the kernel's BTF does not have " + f.name
	}
	return u.facts.NoTrampoline(f.proto)
}

// trampolines reports whether all functions can have one.
func (u finder) trampolines(fs *functions) bool {
	for _, f := range fs.funcs {
		if u.noTrampoline(f) != "" {
			return false
		}
	}
	return true
}

func (u finder) whyNoTrampoline(fs *functions) string {
	if has := u.facts.Trampolines(); !has.There {
		return "this kernel has no trampolines (" + has.Why + ")"
	}
	for _, f := range fs.funcs {
		if why := u.noTrampoline(f); why != "" {
			return why
		}
	}
	return "the kernel attaches many at once so"
}

// maxFunctions bounds the functions of one pattern: beyond it the kernel is
// busy with probes and nothing else.
const maxFunctions = 4096
