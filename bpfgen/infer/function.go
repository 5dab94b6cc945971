package infer

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usdt"
)

// This file makes the programs of probes of functions. A pattern can match
// hundreds; those for which the probe does the same share a program, as system
// calls share a variant: the walk for one function notes what it asked about
// it (access), and others for which the answers are the same join it.

// A funcPoint is one function that a pattern matched.
type funcPoint struct {
	name  string // e.func
	text  string // e.probe
	place tree.Place
	// proto has the types of the arguments; nil for user functions and where
	// BTF has none.
	proto *kernel.Function
	// user: it is a user function; abi says where Go passes its arguments, nil:
	// as C does. goroutine: its calls belong to a goroutine, not to a thread.
	user      bool
	abi       *gofunc.ABI
	goroutine bool
	// inside: the place is behind the function's entry, where the arguments are no longer where the caller left them.
	inside bool
	// program: it is a BPF program.
	program bool
	// returns are the offsets in the file at which it returns, where no probe may
	// be placed on the return address (Go).
	returns []uint64
	// others are how many other functions return for it: it jumps to them.
	others int
	// call is where the arguments and the result are; nil where nobody knows, or
	// before it was asked for.
	call *abi.Call
	// sig gives what debug information says of a user function; nil: it is not asked.
	sig func() *signature.Signature
	// site is that of a static probe, with its arguments.
	site *usdt.Site
}

// typed reports whether the arguments have names and types.
func (p *funcPoint) typed() bool { return p.proto != nil && p.proto.ID != 0 }

// answer gives what a program depends on: see access.
func (p *funcPoint) answer(question string) string {
	switch question {
	case "func":
		return p.text
	case "caller":
		return fmt.Sprint(p.place.Caller)
	case "operands":
		return p.site.Text
	case "ret":
		if p.typed() {
			return fmt.Sprint(p.proto.Ret, p.resultPlace())
		}
		if p.user {
			return p.userAnswer(question)
		}
		return "untyped"
	case "":
		return p.signature()
	}
	if p.user {
		return p.userAnswer(question)
	}
	for i, arg := range p.params() {
		if arg.Name == question || fmt.Sprint(i) == question {
			return fmt.Sprint(i, arg.Type, p.argPlace(i))
		}
	}
	return ""
}

func (p *funcPoint) params() []kernel.Param {
	if !p.typed() {
		return nil
	}
	return p.proto.Params
}

func (p *funcPoint) signature() string {
	var b strings.Builder
	for _, arg := range p.params() {
		fmt.Fprintf(&b, "%s %d,", arg.Name, arg.Type)
	}
	return b.String()
}

// A funcView is a function as one program sees it: it notes the questions.
type funcView struct {
	*funcPoint
	log    *[]access
	shared bool // the program may stand at other functions, too
}

func (fs *functions) view(f *funcPoint, log *[]access) *funcView {
	return &funcView{f, log, fs.shares()}
}

func (v *funcView) ask(question string) string {
	a := v.answer(question)
	*v.log = append(*v.log, access{question, a})
	return a
}

// serves reports whether a program whose walk asked this does for p, too.
func serves(log []access, p *funcPoint) bool {
	for _, a := range log {
		if p.answer(a.question) != a.answer {
			return false
		}
	}
	return true
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

// maxFunctions bounds the functions of one pattern: beyond it the kernel is
// busy with probes and nothing else.
const maxFunctions = 4096

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

// notef notes which way was taken.
func (u *unit) notef(pos plan.Pos, format string, args ...any) {
	u.res.Notes = append(u.res.Notes, Diag{pos, fmt.Sprintf(format, args...)})
}

func (u finder) mustHave(has bool, what, why string, p *plan.Pattern) {
	if has {
		return
	}
	if why != "" {
		why = ": " + why
	}
	wrong(p.Pos, "%s: this kernel has no %s%s", p.Text, what, why)
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

// noTrampoline says why a function cannot have a trampoline, "" if it can:
// arch_prepare_bpf_trampoline copies registers, and btf_ctx_access
// (kernel/bpf/btf.c) knows pointers to numbers since 5.17.
func (u finder) noTrampoline(f *funcPoint) string {
	if !f.typed() {
		return "the kernel's BTF does not have " + f.name
	}
	btf, err := u.facts.BTF()
	if err != nil {
		return err.Error()
	}
	if len(f.params()) > maxTrampolineArgs {
		return f.name + " has arguments on the stack"
	}
	for _, p := range f.params() {
		t, err := btf.Type(btf.Skip(p.Type))
		size, sizeErr := btf.Size(p.Type)
		whole := t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion
		switch {
		case err != nil || sizeErr != nil || size > 8:
			return f.name + " takes " + p.Name + " by value in several words"
		case whole && !u.facts.StructArguments():
			return "this kernel has no trampolines for the struct that " + f.name + " takes by value"
		case t.Kind == kernel.KindPtr && !u.facts.PointerArguments() && !u.plainPointer(btf, t.Elem):
			return "a program of this kernel may not read the pointer " + p.Name + " of " + f.name
		}
	}
	return u.noResult(btf, f)
}

// noResult says why a function's result keeps it from having a trampoline: they
// know none that is a struct (btf_distill_func_proto, kernel/bpf/btf.c).
func (u finder) noResult(btf *kernel.BTF, f *funcPoint) string {
	switch t, err := btf.Type(btf.Skip(f.proto.Ret)); {
	case err != nil:
		return err.Error()
	case t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion:
		return f.name + " returns a struct"
	case t.Size > 8:
		return f.name + " returns several words"
	}
	return ""
}

// maxTrampolineArgs are those that a trampoline passes on all machines: six registers on x86; arm64 has eight, of which
// two are not used here.
const maxTrampolineArgs = 6

// plainPointer: to a struct, or to anything.
func (u finder) plainPointer(btf *kernel.BTF, to kernel.TypeID) bool {
	if btf.Skip(to) == 0 {
		return true
	}
	t, err := btf.Type(btf.Skip(to))
	return err == nil && (t.Kind == kernel.KindStruct || t.Kind == kernel.KindUnion)
}

// A funcProgram is a program with the walk's questions.
type funcProgram struct {
	prog *tree.Program
	log  []access
}

// program makes the programs of a target of functions.
func (fs *functions) program(pr *probe, t *target) {
	pr.mustNotStart(t)
	var programs []*funcProgram
	for _, f := range fs.funcs {
		if !pr.joins(programs, fs, f) {
			programs = append(programs, pr.function(t, fs, f))
		}
	}
	pr.countDeep(t, fs, programs)
}

// shares: a program can stand at several functions. A trampoline serves one.
func (fs *functions) shares() bool { return !fs.mech.Trampoline() }

// joins adds f to a program that does for it.
func (pr *probe) joins(programs []*funcProgram, fs *functions, f *funcPoint) bool {
	if !fs.shares() {
		return false
	}
	for _, p := range programs {
		if serves(p.log, f) {
			p.prog.Attach.Functions().Add(pr.places(fs, f))
			return true
		}
	}
	return false
}

// places are those of f for one program, with their cookie.
func (pr *probe) places(fs *functions, f *funcPoint) []tree.Place {
	return pr.withCookie(f, fs.placesOf(f))
}

func (pr *probe) withCookie(f *funcPoint, places []tree.Place) []tree.Place {
	for i := range places {
		places[i].Cookie = uint64(pr.pointCookie(f))
	}
	return places
}

// placesOf are where programs stand at the function. Whatever attaches to functions asks here: place alone is where
// the function begins.
func (fs *functions) placesOf(f *funcPoint) []tree.Place {
	if fs.returns {
		return f.ends()
	}
	return []tree.Place{f.place}
}

// ends are the places of probes of the function's return: all its returns at once, or the
// instructions that return.
func (p *funcPoint) ends() []tree.Place {
	if len(p.returns) == 0 {
		return []tree.Place{p.place}
	}
	var out []tree.Place
	for _, off := range p.returns {
		at := p.place
		at.Offset, at.Caller = off, tree.CallerMissing
		out = append(out, at)
	}
	return out
}

func (pr *probe) function(t *target, fs *functions, f *funcPoint) *funcProgram {
	fp := &funcProgram{prog: &tree.Program{Name: pr.u.programName(pr.p.ID, f.name), Probe: pr.p.ID}}
	at := fs.at(pr.places(fs, f))
	at.Cookies = pr.cookies && fs.shares()
	fp.prog.Attach = tree.Attach{Way: at}
	b := newBody(pr, fp.prog)
	pr.consume(b, fs.funcEvent(b, fs.view(f, &fp.log)), t)
	pr.u.res.Tree.Programs = append(pr.u.res.Tree.Programs, fp.prog)
	return fp
}

// at are places of the functions for one program.
func (fs *functions) at(places []tree.Place) *tree.Functions {
	return &tree.Functions{Mech: fs.mech, Binary: fs.binary, Process: fs.process, Places: places, Bare: fs.bare}
}

// funcEvent is e at a function's entry or return.
func (fs *functions) funcEvent(b *body, f *funcView) *event {
	ev := &event{b: b, point: f.text, regs: fs.shares(), inside: f.inside}
	ev.profile = ev.regs // the registers tell ip and the mode
	ev.unwound = func() { f.ask("caller") }
	result := func(pos plan.Pos) val { return b.words().funcResult(f, fs.mech, pos) }
	switch {
	case f.site != nil:
		ev.args = &operandArgs{f}
	case fs.returns, fs.mech == tree.AttachKretprobe, fs.mech == tree.AttachUretprobe:
		ev.ret = result
	case fs.mech == tree.AttachFexit:
		ev.ret = result
		fallthrough
	case !f.inside:
		ev.args = &funcArgs{f: f, mech: fs.mech}
	}
	ev.fn = func(pos plan.Pos) val { return b.pr.pointLabel(f, "func", f.name, pos) }
	ev.name = func(pos plan.Pos) val { return b.pr.pointLabel(f, "point", f.text, pos) }
	return ev
}
