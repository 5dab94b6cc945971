package points

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/plan"
)

// Functions of the kernel that a pattern matches, at most `maxFunctions`, FUNC+OFFSET, and whether trampolines or
// kprobes attach there.

// noKprobes is why no program is attached by a kprobe, "" where one is.
func noKprobes(has *kernel.Features) string {
	switch {
	case !has.Kprobe:
		return "this kernel has no kprobes (" + has.Why["kprobe"] + ")"
	case has.KprobeDenied && !has.KprobeMulti:
		return "kprobes are not permitted without CAP_SYS_ADMIN here"
	}
	return ""
}

// byMechanism replaces a way to attach that this kernel does not have by the
// next best.
func (s search) byMechanism(t *Target, fs *Functions, p *plan.Pattern) []*Target {
	has := s.Facts.Features()
	switch fs.Mech {
	case tree.AttachKprobe:
		if why := noKprobes(&has); why != "" && s.Facts.Trampolines().There && s.trampolines(fs) &&
			fs.Funcs[0].Place.Offset == 0 {
			fs.Mech = tree.AttachFentry
			s.notef(p.Pos, "%s: %s, so trampolines (fentry) are used", p.Text, why)
			break
		}
		s.mustHave(has.Kprobe, "kprobes", has.Why["kprobe"], p)
	case tree.AttachKretprobe:
		s.mustHave(has.Kprobe, "kprobes", has.Why["kprobe"], p)
	case tree.AttachFentry:
		if !s.Facts.Trampolines().There || !s.trampolines(fs) {
			s.mustHave(has.Kprobe, "trampolines (fentry)", s.Facts.Trampolines().Why, p)
			fs.Mech = tree.AttachKprobe
			s.notef(p.Pos, "%s: %s, so kprobes are used", p.Text, s.whyNoTrampoline(fs))
		}
	case tree.AttachFexit:
		if !s.Facts.Trampolines().There || !s.trampolines(fs) {
			s.mustHave(has.Kprobe, "trampolines (fexit)", s.Facts.Trampolines().Why, p)
			s.notef(p.Pos, "%s: %s, so kprobes at entry and return are used", p.Text, s.whyNoTrampoline(fs))
			fs.Mech = tree.AttachKprobe
			t.Source = &FunctionCalls{Functions: fs}
		}
	}
	return []*Target{t}
}

// functionOffset splits FUNC+OFFSET.
func (s search) functionOffset(p *plan.Pattern) (name string, offset uint64) {
	name, text, found := strings.Cut(p.Args[len(p.Args)-1], "+")
	if !found {
		return name, 0
	}
	if !kindOf(p).TakesOffset {
		refusal.Wrong(p.Pos, "%s: only kprobe and uprobe take an offset", p.Text)
	}
	offset, err := strconv.ParseUint(text, 0, 64)
	if err == nil && offset == 0 {
		refusal.Wrong(p.Pos, "%s: an offset of 0 is where the function begins: leave +%s out", p.Text, text)
	}
	if err != nil || offset > 1<<30 {
		refusal.Wrong(p.Pos, "%s: the offset is a number of bytes, such as +16 or +0x10, got %q", p.Text, text)
	}
	if naming.IsPattern(name) {
		refusal.Wrong(p.Pos, "%s: an offset needs one function, not a pattern", p.Text)
	}
	return name, offset
}

// kernelFunctions gives the target of kprobe:NAME and its like.
func (s search) kernelFunctions(p *plan.Pattern) []*Target {
	if len(p.Args) > 1 && p.Args[0] == "bpf" {
		return s.bpfPrograms(p)
	}
	name, offset := s.functionOffset(p)
	name = name[strings.IndexByte(name, ':')+1:] // behind the module
	t := &Target{Name: name, Text: p.Text, Pos: p.Pos}
	if fs := s.kernelAddress(p, name); fs != nil {
		t.Source, t.Name = fs, "address"
		return s.byMechanism(t, fs, p)
	}
	fs := &Functions{Mech: mechanism(p)}
	t.Source = fs
	if naming.IsPattern(name) {
		t.Name = p.Provider
	}
	if fs.Mech == tree.AttachKretprobe { // what a kernel wholly lacks comes before what it has by another name
		s.mustHave(s.Facts.Features().Kprobe, "kprobes", s.Facts.Features().Why["kprobe"], p)
	}
	s.mayProbe(p, name)
	for _, fn := range s.matchFunctions(p, name) {
		text := p.Provider + ":" + fn.Name
		if offset != 0 {
			text += fmt.Sprintf("+%#x", offset)
		}
		place := tree.Place{Func: fn.Name, Module: fn.Module, Offset: offset, BTF: fn.BTF}
		places := s.namesakes(p, place)
		if places == nil {
			places = []tree.Place{place}
		}
		for _, at := range places {
			f := &Function{Name: fn.Name, Text: text, Place: at, Proto: fn}
			s.within(p, f)
			fs.Funcs = append(fs.Funcs, f)
		}
	}
	if offset != 0 {
		for _, f := range fs.Funcs {
			f.Inside, f.Proto = true, nil
		}
	}
	return s.byMechanism(t, fs, p)
}

func (s search) matchFunctions(p *plan.Pattern, name string) []*kernel.Function {
	if _, err := naming.Compile(name); err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	module, _ := moduleOf(p)
	if naming.IsPattern(module) {
		refusal.Wrong(p.Pos, "%s: name one module; without one the functions of all are matched", p.Text)
	}
	list, err := s.Facts.MatchFunctionsOf(module, name)
	if len(list) == 0 {
		s.mustBeModule(p, module)
	}
	if err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	if len(list) == 0 {
		refusal.Wrong(p.Pos, "no function of the kernel matches %s", p.Text)
	}
	if len(list) > maxFunctions {
		refusal.Wrong(p.Pos, "%s matches %d functions; a probe takes at most %d: narrow the pattern", p.Text, len(list),
			maxFunctions)
	}
	return list
}

// noTrampoline says why a function cannot have a trampoline, "" if it can.
func (s search) noTrampoline(f *Function) string {
	if !f.Typed() {
		return "the kernel's BTF does not have " + f.Name
	}
	return s.Facts.NoTrampoline(f.Proto)
}

// trampolines reports whether all functions can have one.
func (s search) trampolines(fs *Functions) bool {
	for _, f := range fs.Funcs {
		if s.noTrampoline(f) != "" {
			return false
		}
	}
	return true
}

func (s search) whyNoTrampoline(fs *Functions) string {
	if has := s.Facts.Trampolines(); !has.There {
		return "this kernel has no trampolines (" + has.Why + ")"
	}
	for _, f := range fs.Funcs {
		if why := s.noTrampoline(f); why != "" {
			return why
		}
	}
	return "the kernel attaches many at once so"
}

// maxFunctions bounds the functions of one pattern: beyond it the kernel is
// busy with probes and nothing else.
const maxFunctions = 4096
