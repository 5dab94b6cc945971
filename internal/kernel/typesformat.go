package kernel

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/startrace/startrace/internal/naming"
)

// Formats of tracepoints made from types alone, where tracefs cannot be read.
//
// What a tracepoint records is a struct, trace_event_raw_CLASS, of which the
// types have the members (include/trace/stages/stage1_struct_define.h). Several
// events can share one class: then the class is that whose function
// trace_event_raw_event_CLASS takes what the event gives.

const (
	rawStruct   = "trace_event_raw_"
	rawFunction = "trace_event_raw_event_"
)

// NotTold begins what is said where a kernel may well have something that its types do not describe: those of 5.10 have
// no functions of tracepoints.
const NotTold = "the types do not tell"

// typeFormats makes the formats of tracepoints from types.
type typeFormats struct {
	once sync.Once
	// classes are all that the types have, from the first use on.
	classes []eventClass
}

// tracepoint makes the format of a tracepoint. Types do not know groups, so every
// group is taken to have it.
func (k *typeFormats) tracepoint(f *Facts, group, name string) (*Tracepoint, error) {
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	text, ok := "", false
	if call, enters := strings.CutPrefix(name, "sys_enter_"); group == "syscalls" && enters {
		text, ok = enterFormat(call)
	} else if _, exits := strings.CutPrefix(name, "sys_exit_"); group == "syscalls" && exits {
		text, ok = formatHead+"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"+
			"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n", true
	} else {
		text, ok = k.formatOf(b, name)
	}
	if _, there := b.Named(KindTypedef, btfTrace+name); !ok && there {
		return nil, fmt.Errorf("%s what tracepoint %s:%s records (functions %sCLASS are not among them)",
			NotTold, group, name, rawFunction)
	}
	if !ok {
		return nil, &NoPointError{"tracepoint", group + ":" + name, naming.Suggest(name, b.rawTracepoints())}
	}
	t, err := ParseFormat([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("format of tracepoint %s:%s: %w", group, name, err)
	}
	t.Group, t.Name = group, name
	f.typeArguments(t)
	return t, nil
}

// formatHead is what each record begins with (struct trace_entry).
const formatHead = "ID: 0\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" +
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" +
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" +
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"

// enterFormat is the format of syscalls:sys_enter_CALL (kernel/trace/trace_syscalls.c).
func enterFormat(call string) (string, bool) {
	s, ok := SyscallByName(call)
	if !ok {
		return "", false
	}
	var out strings.Builder
	out.WriteString(formatHead + "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n")
	for i, a := range s.Args() {
		fmt.Fprintf(&out, "\tfield:%s %s;\toffset:%d;\tsize:8;\tsigned:0;\n", a.CType, a.Name, 16+8*i)
	}
	return out.String(), true
}

// formatOf writes the format of an event as tracefs would.
func (k *typeFormats) formatOf(b *BTF, event string) (string, bool) {
	id, ok := k.recordOf(b, event)
	if !ok {
		return "", false
	}
	t, err := b.Type(id)
	if err != nil {
		return "", false
	}
	var out strings.Builder
	out.WriteString(formatHead)
	for _, m := range t.Members {
		if m.Name == "ent" || m.Name == "__data" {
			continue
		}
		size, err := b.Size(m.Type)
		if err != nil {
			return "", false
		}
		fmt.Fprintf(&out, "\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n", b.fieldDeclaration(m), m.Off, size,
			map[bool]int{true: 1}[b.signedElement(m.Type)])
	}
	return out.String(), true
}

// fieldDeclaration is a member as a format declares it. What lies behind a
// __data_loc is not in the types; most are texts.
func (b *BTF) fieldDeclaration(m Member) string {
	for _, loc := range []string{"__data_loc", "__rel_loc"} {
		if name, ok := strings.CutPrefix(m.Name, loc+"_"); ok {
			return loc + " char[] " + name
		}
	}
	return b.Declaration(m.Type, m.Name)
}

// signedElement reports whether a number, or the elements of an array, have a
// sign.
func (b *BTF) signedElement(id TypeID) bool {
	t, err := b.Type(b.Skip(id))
	if err == nil && t.Kind == KindArray {
		t, err = b.Type(b.Skip(t.Elem))
	}
	return err == nil && t.Signed
}

// recordOf is the struct that an event records: its own, or that of the class
// that takes the same.
func (k *typeFormats) recordOf(b *BTF, event string) (TypeID, bool) {
	typedef, ok := b.Named(KindTypedef, btfTrace+event)
	if !ok {
		return 0, false
	}
	if id, ok := b.Named(KindStruct, rawStruct+event); ok {
		return id, true
	}
	gives, ok := b.protoParams(typedef)
	if !ok {
		return 0, false
	}
	k.once.Do(func() { k.classes = b.eventClasses() })
	var best *eventClass
	for i := range k.classes {
		c := &k.classes[i]
		if slices.EqualFunc(c.takes, gives, func(x, y Param) bool { return x.Type == y.Type }) &&
			(best == nil || c.closer(best, event)) {
			best = c
		}
	}
	if best == nil {
		return 0, false
	}
	return b.Named(KindStruct, rawStruct+best.name)
}

// An eventClass is a class of events: what its function takes. own is set if an
// event has the same name, which then mostly is the only one.
type eventClass struct {
	name  string
	takes []Param
	own   bool
}

func (b *BTF) eventClasses() (out []eventClass) {
	for _, fn := range b.Names(KindFunc) {
		name, ok := strings.CutPrefix(fn, rawFunction)
		if !ok {
			continue
		}
		id, _ := b.Named(KindFunc, fn)
		proto := b.record(b.record(id).ref())
		if proto == nil || proto.kind() != btfProto || proto.vlen() < 1 {
			continue
		}
		_, own := b.Named(KindTypedef, btfTrace+name)
		out = append(out, eventClass{name, b.params(proto)[1:], own})
	}
	return out
}

// closer reports whether c is more probably the class of an event than other: a
// class is mostly called as its events are.
func (c *eventClass) closer(other *eventClass, event string) bool {
	if c.own != other.own {
		return other.own
	}
	return likeness(c.name, event) > likeness(other.name, event)
}

// likeness is how many letters two names have in common at their beginning.
func likeness(x, y string) (n int) {
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// match gives those that types know, in the one group that is asked for.
func (k *typeFormats) match(f *Facts, groupGlob, nameGlob string) ([]TracepointName, error) {
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	g, err := naming.Compile(nameGlob)
	if err != nil {
		return nil, err
	}
	groups, err := naming.Compile(groupGlob)
	if err != nil {
		return nil, err
	}
	list, ok := groups.Expand()
	if !ok || len(list) != 1 {
		return nil, fmt.Errorf("%s: the types of another kernel do not tell the groups of its tracepoints", groupGlob)
	}
	names, written := g.Expand()
	if !written {
		names = b.rawTracepoints()
	}
	var out []TracepointName
	for _, n := range names {
		if _, err := f.Tracepoint(list[0], n); err == nil && g.Match(n) {
			out = append(out, TracepointName{list[0], n})
		}
	}
	return out, nil
}
