package infer

import (
	"maps"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/points"
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// The attributes of e, as e.pid, e.ppid, e.args, e.regs: their names and types, which points have them, and messages as
// `an event has no field`.

func (e *event) what() string { return "the event e" }

// builtinFields are the fields that every event has.
var builtinFields = map[string]types.Type{
	"pid":    types.U32,
	"tid":    types.U32,
	"uid":    types.U32,
	"gid":    types.U32,
	"cpu":    types.U32,
	"comm":   types.Comm,
	"time":   types.U64,
	"cgroup": types.U64,
}

// fieldNames are all names that e can have, for spelling hints.
var fieldNames = []string{
	"pid", "tid", "ppid", "nspid", "nstid",
	"uid", "gid", "comm", "cpu", "time", "cgroup", "task", "probe", "traced", "func", "args", "ret",
	"duration", "depth", "start", "ip", "addr", "usermode", "regs", "stack", "ustack", "file", "value",
	"vars", "source", "globals", "goid",
}

// field gives e.name; ok is false where this event has no such field.
func (e *event) field(name string, pos plan.Pos) (v val, ok bool) {
	if v, ok := e.over[name]; ok {
		return e.mine(v), true // of a start: a variable of its program
	}
	if v, known, ok := e.ofEntry(name, pos); known {
		return v, ok
	}
	b := e.b
	if t, ok := builtinFields[name]; ok {
		return e.mine(exprVal(&tree.Expr{Op: tree.OpBuiltin, Type: t, Str: name, Pos: pos})), true
	}
	switch name {
	case "task":
		return e.mine(exprVal(b.task(pos))), true
	case "ppid":
		parent := b.memory().pointerField(b.task(pos), "real_parent", pos)
		return e.mine(b.attributes().attr(parent, "tgid", pos)), true
	case "nspid":
		return e.mine(tasks{b}.processInside(exprVal(b.task(pos)), pos)), true
	case "nstid":
		return e.mine(tasks{b}.numberInside(exprVal(b.task(pos)), pos)), true
	case "probe":
		if e.name != nil {
			return e.mine(e.name(pos)), true
		}
		return e.mine(b.pr.plainName(e.point, pos)), true
	case "traced":
		return e.mine(b.pr.isTraced(b, e)), true
	case "args":
		if e.args != nil {
			return objVal(&argsObj{e}), true
		}
	case "vars":
		if e.vars != nil {
			return objVal(&varsObj{e, e.vars}), true
		}
	case "globals":
		if o, ok := e.globals(); ok {
			return objVal(o), true
		}
	case "source":
		if e.source != nil {
			if text, ok := e.source(); ok {
				return strVal(text), true
			}
		}
	case "start":
		if e.startEv != nil {
			return objVal(e.startEv), true
		}
	case "file", "stack", "ustack":
		return objVal(&eventMethod{e, name}), true
	case "regs":
		if e.regs {
			return objVal(&regsObj{e}), true
		}
	case "depth":
		if e.depth != nil {
			return e.mine(e.depth(pos)), true
		}
		if e.startEv != nil {
			return intVal(0), true // a thread is in one system call at a time
		}
	case "value":
		if e.value != nil {
			return e.mine(*e.value), true
		}
	}
	return e.optional(name, pos)
}

// optional gives the fields that only some points have.
func (e *event) optional(name string, pos plan.Pos) (val, bool) {
	switch {
	case name == "ret" && e.ret != nil:
		return e.mine(e.ret(pos)), true
	case name == "goid" && e.goid != nil:
		return e.mine(e.goid(pos)), true
	case name == "duration" && e.duration != nil:
		return e.mine(e.duration(pos)), true
	case name == "func" && e.fn != nil:
		return e.mine(e.fn(pos)), true
	case name == "addr" && e.addr != nil:
		return e.mine(e.addr(pos)), true
	case name == "ip" && e.profile:
		return e.mine(exprVal(&tree.Expr{Op: tree.OpBuiltin, Type: types.U64, Str: name, Pos: pos})), true
	case name == "usermode" && e.profile:
		return e.mine(exprVal(&tree.Expr{Op: tree.OpBuiltin, Type: types.Boolean, Str: name, Pos: pos})), true
	}
	return val{}, false
}

// mine marks v as belonging to the event's program.
func (e *event) mine(v val) val {
	if v.start == nil && (v.expr != nil || v.comp) {
		v.start = e.b
	}
	return v
}

// task is the current task_struct.
func (b *body) task(pos plan.Pos) *tree.Expr {
	id, ok := b.u.btf(pos).Named(kernel.KindStruct, "task_struct")
	if !ok {
		wrong(pos, "the kernel's types have no task_struct")
	}
	return &tree.Expr{Op: tree.OpBuiltin, Type: types.Type{Kind: types.Ptr, BTF: id, Trusted: true}, Str: "task",
		Pos: pos}
}

// mustField is e.name with the message for a field that is not there.
func (e *event) mustField(name string, pos plan.Pos) val {
	v, ok := e.field(name, pos)
	if ok {
		return v
	}
	for _, f := range fieldNames {
		if f == name {
			if v, elsewhere := e.elsewhere(name); elsewhere {
				return v
			}
			wrong(pos, "%s has no e.%s%s", e.point, name, e.whyNot(name))
		}
	}
	names := append(slices.Clone(fieldNames), sortedKeys(e.over)...)
	if e.args != nil {
		for _, n := range e.args.names() {
			if n == name {
				wrong(pos, "an event has no field %s: it is an argument, e.args.%s", name, name)
			}
		}
	}
	if ours, ok := foreignFields[name]; ok {
		wrong(pos, "an event has no field %s: here it is %s", name, ours)
	}
	wrong(pos, "an event has no field %s%s", name, refusal.Near(name, names))
	return val{}
}

// foreignFields are words of other tracers, and words that one may try, with
// ours.
var foreignFields = map[string]string{
	"retval": "e.ret", "ret_val": "e.ret", "result": "e.ret", "return_value": "e.ret", "errno": "errno(e.ret)",
	"error": "errno(e.ret)",
	"nsecs": "e.time", "timestamp": "e.time", "ts": "e.time", "now": "e.time", "elapsed": "e.duration, of a span",
	"latency": "e.duration, of a span", "delta": "e.duration, of a span",
	"kstack": "e.stack()", "callstack": "e.stack() or e.ustack()", "backtrace": "e.stack() or e.ustack()",
	"execname": "e.comm", "command": "e.comm", "process": "e.comm, or e.task", "name": "e.comm, e.func or e.probe",
	"pcomm":  "e.task.real_parent.comm",
	"parent": "e.task.real_parent", "curtask": "e.task", "current": "e.task", "thread": "e.tid", "cpuid": "e.cpu",
	"cgroupid": "e.cgroup", "goroutine": "e.goid",
	"user": "e.uid, the number", "username": "e.uid, the number", "group": "e.gid, the number",
	"function": "e.func", "probefunc": "e.func", "syscall": "e.func", "probename": "e.probe", "point": "e.probe",
	"event": "e.probe",
	"arg0":  "e.args[0]", "arg1": "e.args[1]", "arg2": "e.args[2]", "arg3": "e.args[3]", "arg4": "e.args[4]",
	"arg5": "e.args[5]", "argv": "e.args.argv",
	"reg": "e.regs.NAME", "registers": "e.regs.NAME", "pc": "e.ip", "exe": "proc(e.pid).exe, in user space",
	"cmdline": "proc(e.pid).cmdline, in user space", "path": "path(e.args.FILE)",
}

func (e *event) whyNot(name string) string {
	if e.listed != nil && ofCurrent[name] {
		return ": an iterator's event is an entry of the kernel's list and happens to no process; " +
			"what it has is in e.args"
	}
	switch name {
	case "args":
		if e.inside {
			variable := ""
			if e.vars != nil {
				variable = "e.vars.NAME is a variable there if the program has debug information, "
			}
			return ": behind the entry of a function its arguments need not be where they were; " + variable +
				"e.regs.NAME is what a register has there, and a second probe at the entry can keep e.args in a table()"
		}
	case "ret", "duration":
		if e.atStart {
			return ": this runs at the start of the call, where= too if there is a start="
		}
	case "start":
		if e.atStart {
			return ": this runs at the start of the call, where= too if there is a start=, so what is meant is here " +
				"without it: e.args.NAME for e.start.args.NAME"
		}
	case "value":
		return ": only a kernel= function that returns a plain value gives it"
	}
	if having := e.family().Having(name); having != "" {
		return ": " + having
	}
	return ""
}

// register is e.regs.name: 64 bits as they were at the point.
func (r *regsObj) register(name string, pos plan.Pos) val {
	names := kernel.RegisterOffsets("").Names
	off, ok := names[name]
	if !ok {
		list := sortedKeys(names)
		wrong(pos, "this machine has no register %s%s; it has %s", name, refusal.Near(name, list),
			strings.Join(list, ", "))
	}
	return r.ev.mine(exprVal(register(off, pos)))
}

// argument is e.args.name.
func (a *argsObj) argument(name string, pos plan.Pos) val {
	b := a.ev.b
	if v, ok := a.ev.args.get(b, name, pos); ok {
		return a.ev.mine(v)
	}
	if plain, found := strings.CutSuffix(name, "_"); found {
		if v, ok := a.ev.args.get(b, plain, pos); ok {
			return a.ev.mine(v)
		}
	}
	names := a.ev.args.names()
	if b.pr.someArgs(name) { // another point of this probe has it
		if f, is := a.ev.args.(*funcArgs); is && isSplit(f.f.Function) {
			return unknownKind(pos)
		}
		return missingAt(a.ev.point, "e.args."+name)
	}
	if b.pr.several() { // one message for all of them
		for _, f := range b.pr.userFunctions() {
			mustNotBeSplit(f, pos)
		}
		wrong(pos, "no point of %s has an argument %s%s", b.pr.p.Name, name,
			refusal.Near(name, slices.Sorted(maps.Keys(b.pr.argNames))))
	}
	if len(names) == 0 {
		if f, is := a.ev.args.(*funcArgs); is && f.f.User && f.f.Known() == nil {
			mustNotBeSplit(f.f.Function, pos)
			wrong(pos, "the names of arguments are known where a program has debug information (gcc -g), and there "+
				"is none of this function: e.args[0] is the first; of a char * it is the address, and "+
				"cstr(e.args[0]) the string")
		}
		wrong(pos, "%s has no arguments", a.ev.point)
	}
	wrong(pos, "%s has no argument %s%s; it has %s", a.ev.point, name, refusal.Near(name, names),
		strings.Join(names, ", "))
	return val{}
}

// isSplit reports whether debug information of a function is in a file that cannot be read.
func isSplit(f *points.Function) bool {
	_, why := f.Split()
	return f.User && why != "" && f.Known() == nil
}

// mustNotBeSplit says that debug information is in a file that cannot be read.
func mustNotBeSplit(f *points.Function, pos plan.Pos) {
	if file, why := f.Split(); isSplit(f) {
		wrong(pos, "the debug information of this function is in a file of its own, %s, which %s: bring it where the "+
			"compiler put it, or beside the program, or build the program anew; without it e.args[0] is the first "+
			"argument, a number", file, why)
	}
}

// family is that of the points for calls of what this event is about: of system calls where it is about no function.
func (e *event) family() *point.Family {
	f, is := e.args.(*funcArgs)
	switch {
	case is && f.f.User:
		return point.UserFunctions
	case is:
		return point.KernelFunctions
	}
	return point.SystemCalls
}

// EventFields are the names of all parts that an event can have.
func EventFields() []string { return slices.Clone(fieldNames) }

// everything is e.args as a record.
func (a *argsObj) everything(pos plan.Pos) val {
	out := val{comp: true, names: []string{}}
	if a.unnamed() {
		if f, is := a.ev.args.(*funcArgs); is {
			mustNotBeSplit(f.f.Function, pos)
		}
		wrong(pos,
			"the arguments of %s have no names here, so e.args as a whole is nothing: write e.args[0], e.args[1] …",
			a.ev.point)
	}
	for _, n := range a.ev.args.names() {
		out.names = append(out.names, n)
		out.elems = append(out.elems, orUnshown(pos, func() val {
			return a.ev.mine(a.ev.b.sendable(a.argument(n, pos), pos))
		}))
	}
	return out
}

// orUnshown is a part of a whole; one that cannot be a value is FAULT, so that none is left out without a word.
func orUnshown(pos plan.Pos, part func() val) (v val) {
	if refusal.Attempt(func() { v = part() }) != nil {
		return exprVal(&tree.Expr{Op: tree.OpUnreadable, Type: types.I64.OrFault(), Int: tree.Unshown, Pos: pos})
	}
	return v
}

// unshown reports whether v is what orUnshown gives for what is no value.
func (v val) unshown() bool {
	return v.expr != nil && v.expr.Op == tree.OpUnreadable && v.expr.Int == tree.Unshown
}

// everything is e as a value: all fields that this event has.
func (e *event) everything(pos plan.Pos) val {
	out := val{comp: true, names: []string{}}
	add := func(n string, v val) {
		out.names = append(out.names, n)
		out.elems = append(out.elems, v)
	}
	for _, n := range []string{"time", "probe", "cpu", "comm", "pid", "tid", "uid"} {
		if _, over := e.over[n]; over {
			continue
		}
		if v, ok := e.field(n, pos); ok {
			add(n, v)
		}
	}
	for _, n := range []string{"ret", "duration", "ip", "addr", "usermode"} {
		if v, ok := e.field(n, pos); ok {
			add(n, v)
		}
	}
	for _, n := range e.order {
		add(n, e.mine(e.b.sendable(e.over[n], pos)))
	}
	if e.args != nil && len(e.args.names()) > 0 {
		add("args", (&argsObj{e}).everything(pos))
	}
	return out
}

// ofEntry gives, at an iterator, a field that elsewhere tells of the current process: here it tells of the entry's.
// known is false where the field is none of these; ok is false where the entry does not have it.
func (e *event) ofEntry(name string, pos plan.Pos) (v val, known, ok bool) {
	if e.listed == nil || !ofCurrent[name] {
		return val{}, false, false
	}
	if f := e.listed[name]; f != nil {
		return e.mine(f(pos)), true, true
	}
	return val{}, true, false
}

// listTask makes the process of a task that of the event.
func (e *event) listTask(task val) {
	follow := func(names ...string) func(plan.Pos) val {
		return func(pos plan.Pos) val {
			v := task
			for _, n := range names {
				v = e.b.attributes().attr(v, n, pos)
			}
			return v
		}
	}
	e.listed = map[string]func(plan.Pos) val{
		"task": follow(), "pid": follow("tgid"), "tid": follow("pid"), "comm": follow("comm"),
		"ppid": follow("real_parent", "tgid"), "uid": follow("cred", "uid", "val"), "gid": follow("cred", "gid", "val"),
		"nspid": func(pos plan.Pos) val { return tasks{e.b}.processInside(task, pos) },
		"nstid": func(pos plan.Pos) val { return tasks{e.b}.numberInside(task, pos) },
	}
}

// ofCurrent are the fields that tell of the current process.
var ofCurrent = map[string]bool{
	"task": true, "pid": true, "tid": true, "comm": true, "ppid": true, "nspid": true, "nstid": true,
	"uid": true, "gid": true, "cgroup": true,
	"file": true, "stack": true, "ustack": true,
}

// unnamed reports whether there are arguments, of which nobody knows the names.
func (a *argsObj) unnamed() bool {
	f, is := a.ev.args.(*funcArgs)
	return is && !f.f.Typed() && f.f.ArgCount() > 0 && len(f.names()) == 0
}
