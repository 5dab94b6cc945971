package kernel

import (
	"fmt"
	"strings"
	"testing"
)

// The record of a tracepoint is described twice: by its format, which is what scripts read by, and by BTF, as the
// struct trace_event_raw_CLASS. TestFormatsAgreeWithBTF compares each field of each event of this kernel whose class
// has its name.
func TestFormatsAgreeWithBTF(t *testing.T) {
	f := Open(Options{})
	b, err := f.BTF()
	if err != nil {
		t.Skip("needs the kernel's BTF (CONFIG_DEBUG_INFO_BTF):", err)
	}
	names, err := f.MatchTracepoints("*", "*")
	if err != nil {
		t.Skip("needs tracefs, mounted or to be mounted by root:", err)
	}
	events, fields := 0, 0
	for _, n := range names {
		id, ok := b.Named(KindStruct, "trace_event_raw_"+n.Name)
		if !ok {
			continue
		}
		tp, err := f.Tracepoint(n.Group, n.Name)
		if err != nil {
			continue // of a module that was just removed
		}
		events++
		for _, field := range tp.Fields {
			if strings.HasPrefix(field.Name, "common_") {
				continue
			}
			fields++
			field.IsPtr = f.IsPointer(field)
			if diff := disagreement(b, id, field); diff != "" {
				t.Errorf("%s: %s %s: %s", n, field.CType, field.Name, diff)
			}
		}
	}
	t.Logf("%d fields of %d events", fields, events)
	if events < 100 {
		t.Errorf("%d events only have a struct of their name", events)
	}
}

// disagreement is how BTF's member differs from the format's field; "" if it does not.
func disagreement(b *BTF, id TypeID, f TracepointField) string {
	name := f.Name
	if f.DataLoc || f.RelLoc { // a word with the place of the data
		name = map[bool]string{true: "__data_loc_", false: "__rel_loc_"}[f.DataLoc] + f.Name
	}
	m, ok := b.find(b.Skip(id), name)
	if !ok {
		return "BTF has no such member"
	}
	if m.Off != f.Off {
		return fmt.Sprintf("at %d, in BTF at %d", f.Off, m.Off)
	}
	typ, err := b.Type(b.Skip(m.Type))
	if err != nil {
		return err.Error()
	}
	if f.DataLoc || f.RelLoc {
		return sameSize(f.Size, 4)
	}
	if typ.Kind == KindArray {
		return arraysDisagree(b, f, typ)
	}
	switch {
	case f.Array:
		return "an array, in BTF " + b.TypeName(m.Type)
	case f.IsPtr != (typ.Kind == KindPtr):
		return fmt.Sprintf("a pointer: %v, in BTF %s", f.IsPtr, b.TypeName(m.Type))
	case f.IsPtr:
		return sameSize(f.Size, 8)
	case typ.Kind == KindInt || typ.Kind == KindEnum:
		if f.Signed != typ.Signed && !typ.Bool && typ.Kind == KindInt && hasSign(typ) {
			return fmt.Sprintf("signed: %v, in BTF %v", f.Signed, typ.Signed)
		}
		if typ.Bool != (f.CType == "bool") && f.CType != "_Bool" {
			return fmt.Sprintf("a bool in BTF: %v", typ.Bool)
		}
	}
	return sameSize(f.Size, typ.Size)
}

// hasSign reports whether BTF tells the sign of an int: of characters, and s8 is one, older ones do not.
func hasSign(t Type) bool { return t.Size > 1 }

func sameSize(format, btf int) string {
	if format != btf {
		return fmt.Sprintf("%d bytes, in BTF %d", format, btf)
	}
	return ""
}

func arraysDisagree(b *BTF, f TracepointField, typ Type) string {
	elem, err := b.Type(b.Skip(typ.Elem))
	if err != nil {
		return err.Error()
	}
	switch {
	case !f.Array:
		return fmt.Sprintf("no array, in BTF one of %d", typ.Len)
	case f.ArrayLen != 0 && f.ArrayLen != typ.Len:
		return fmt.Sprintf("%d elements, in BTF %d", f.ArrayLen, typ.Len)
	case f.IsString != (elem.Kind == KindInt && elem.Size == 1 && b.TypeName(typ.Elem) == "char"):
		return fmt.Sprintf("a string: %v, in BTF of %s", f.IsString, b.TypeName(typ.Elem))
	case f.ArrayLen != 0 && elem.Kind == KindInt && !f.IsString && hasSign(elem) && f.Signed != elem.Signed:
		return fmt.Sprintf("signed: %v, in BTF %v", f.Signed, elem.Signed)
	}
	return sameSize(f.Size, typ.Len*elem.Size)
}
