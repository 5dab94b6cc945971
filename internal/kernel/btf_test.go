package kernel

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func named(t *testing.T, b *BTF, kind TypeKind, name string) TypeID {
	t.Helper()
	id, ok := b.Named(kind, name)
	if !ok {
		t.Fatalf("no %s %s", kind, name)
	}
	return id
}

func TestField(t *testing.T) {
	b := fixture(t)
	task := named(t, b, KindStruct, "task")
	for _, c := range []struct {
		name, typ          string
		off                int
		bit, bitSize, load uint8
	}{
		{"pid", "pid_t", 0, 0, 0, 0},
		{"from", "const int", 4, 0, 0, 0},
		{"from_", "const int", 4, 0, 0, 0},
		{"raw", "long unsigned int", 8, 0, 0, 0},
		{"lo", "unsigned int", 8, 0, 0, 0},
		{"hi", "volatile unsigned int", 12, 0, 0, 0},
		{"comm", "char [16]", 16, 0, 0, 0},
		{"tasks", "struct list_head", 32, 0, 0, 0},
		{"a", "unsigned int", 48, 0, 3, 4},
		{"b", "int", 48, 3, 5, 4},
		{"on", "_Bool", 49, 0, 0, 0},
		{"tail", "unsigned int", 60, 20, 12, 4},
	} {
		f, err := b.Field(task, c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if f.Name != strings.TrimSuffix(c.name, "_") || f.Off != c.off || f.Bit != c.bit || f.BitSize != c.bitSize ||
			f.Load != c.load {
			t.Errorf("%s: got %+v", c.name, f)
		}
		if got := b.TypeName(f.Type); got != c.typ {
			t.Errorf("%s: got type %q, want %q", c.name, got, c.typ)
		}
	}
}

func TestFieldErrors(t *testing.T) {
	b := fixture(t)
	_, err := b.Field(named(t, b, KindStruct, "task"), "comn")
	var no *NoFieldError
	if !errors.As(err, &no) || *no != (NoFieldError{Struct: "struct task", Field: "comn", Near: "comm"}) {
		t.Errorf("got %#v", err)
	}
	if got, want := err.Error(), "struct task has no field comn (did you mean comm?)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for kind, c := range map[TypeKind][2]string{
		KindFwd:     {"hidden", "struct hidden is only declared"},
		KindTypedef: {"pid_t", "pid_t has no fields"},
		KindFloat:   {"double", "double has no fields"},
	} {
		if _, err := b.Field(named(t, b, kind, c[0]), "x"); err == nil || !strings.HasPrefix(err.Error(), c[1]) {
			t.Errorf("%s: got %v", c[0], err)
		}
	}
	for _, id := range []TypeID{0, 9999, 1<<32 - 1} {
		if _, err := b.Field(id, "x"); err == nil {
			t.Errorf("type %d: no error", id)
		}
	}
}

func TestFields(t *testing.T) {
	b := fixture(t)
	got := b.Fields(named(t, b, KindStruct, "task"))
	want := []string{"pid", "from", "raw", "lo", "hi", "comm", "tasks", "a", "b", "on", "tail"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if got := b.Fields(named(t, b, KindFloat, "double")); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestType(t *testing.T) {
	b := fixture(t)
	get := func(kind TypeKind, name string) Type {
		ty, err := b.Type(named(t, b, kind, name))
		if err != nil {
			t.Fatal(err)
		}
		return ty
	}
	if ty := get(KindInt, "int"); ty.Size != 4 || ty.Bits != 32 || !ty.Signed || ty.Char || ty.Bool {
		t.Errorf("int: %+v", ty)
	}
	if ty := get(KindInt, "char"); !ty.Char || ty.Size != 1 {
		t.Errorf("char: %+v", ty)
	}
	if ty := get(KindInt, "_Bool"); !ty.Bool || ty.Signed {
		t.Errorf("_Bool: %+v", ty)
	}
	if ty := get(KindEnum, "state"); !ty.Signed || !slices.Equal(ty.Enums, []EnumValue{{"GONE", -1}, {"RUN", 3}}) {
		t.Errorf("state: %+v", ty)
	}
	if ty := get(KindEnum, "wide"); ty.Signed || ty.Size != 8 || ty.Bits != 64 ||
		!slices.Equal(ty.Enums, []EnumValue{{"HUGE", 1 << 40}}) {
		t.Errorf("wide: %+v", ty)
	}
	if ty := get(KindFwd, "hiddenu"); !ty.Union {
		t.Errorf("hiddenu: %+v", ty)
	}
	fn := get(KindFunc, "__traceiter_task_wake")
	proto, _ := b.Type(fn.Elem)
	if proto.Kind != KindProto || len(proto.Params) != 3 || proto.Params[1].Name != "p" ||
		b.TypeName(proto.Elem) != "int" {
		t.Errorf("proto: %+v", proto)
	}
	if ty := get(KindStruct, "task"); len(ty.Members) != 9 || ty.Members[2].Name != "" || ty.Members[2].Off != 8 ||
		ty.Size != 64 {
		t.Errorf("task: %+v", ty)
	}
	if ty, err := b.Type(0); err != nil || ty.Kind != KindVoid {
		t.Errorf("void: %+v, %v", ty, err)
	}
	if _, err := b.Type(TypeID(b.Len() + 1)); err == nil {
		t.Error("no error after the last type")
	}
}

func TestSkipAndSize(t *testing.T) {
	b := fixture(t)
	ptr, _ := b.Type(b.Skip(named(t, b, KindTypedef, "user_str")))
	if ptr.Kind != KindPtr || ptr.Size != 8 {
		t.Fatalf("got %+v", ptr)
	}
	if tag, _ := b.Type(ptr.Elem); tag.Kind != KindModifier || tag.Name != "user" {
		t.Errorf("got %+v", tag)
	}
	f, _ := b.Field(named(t, b, KindStruct, "task"), "comm")
	for id, want := range map[TypeID]int{
		f.Type: 16, named(t, b, KindTypedef, "pid_t"): 4, named(t, b, KindStruct, "task"): 64,
		named(t, b, KindTypedef, "user_str"): 8, named(t, b, KindEnum, "wide"): 8, named(t, b, KindFloat, "double"): 8,
	} {
		if got, err := b.Size(id); err != nil || got != want {
			t.Errorf("%s: got %d, %v", b.TypeName(id), got, err)
		}
	}
	for _, id := range []TypeID{0, 9999, named(t, b, KindFunc, "__traceiter_task_wake"),
		named(t, b, KindFwd, "hidden")} {
		if n, err := b.Size(id); err == nil {
			t.Errorf("type %d: got %d", id, n)
		}
	}
}

func TestEnumValue(t *testing.T) {
	b := fixture(t)
	for name, want := range map[string]int64{"GONE": -1, "RUN": 3, "HUGE": 1 << 40, "TOP": 1<<32 - 1} {
		v, id, ok := b.EnumValue(name)
		if ty, _ := b.Type(id); !ok || v != want || ty.Kind != KindEnum {
			t.Errorf("%s: got %d, %d, %v", name, v, id, ok)
		}
	}
	if _, _, ok := b.EnumValue("state"); ok {
		t.Error("state is no enumerator")
	}
}

func TestTypeName(t *testing.T) {
	names := []string{"int", "s"}
	b, err := ParseBTF(rawBTF(names,
		[]uint32{nameOff(names, "int"), info(btfInt, 0), 4, 1<<24 | 32}, // 1 int
		[]uint32{0, info(btfPtr, 0), 1},                                 // 2 int *
		[]uint32{0, info(btfConst, 0), 2},                               // 3 int *const
		[]uint32{0, info(btfPtr, 0), 3},                                 // 4 int *const *
		[]uint32{0, info(btfArray, 0), 0, 1, 1, 4},                      // 5 int [4]
		[]uint32{0, info(btfPtr, 0), 5},                                 // 6 int (*)[4]
		[]uint32{0, info(btfProto, 2), 2, 0, 1, 0, 0},                   // 7 int *(int, ...)
		[]uint32{0, info(btfPtr, 0), 7},                                 // 8 int *(*)(int, ...)
		[]uint32{0, info(btfConst, 0), 1},                               // 9 const int
		[]uint32{0, info(btfStruct, 0), 0},                              // 10 struct {…}
		[]uint32{0, info(btfArray, 0), 0, 5, 1, 3},                      // 11 int [3][4]
		[]uint32{nameOff(names, "s"), info(btfFwd, 0) | 1<<31, 0},       // 12 union s
		[]uint32{0, info(btfProto, 0), 0},                               // 13 void (void)
		[]uint32{0, info(btfPtr, 0), 15},                                // 14 points at itself
		[]uint32{0, info(btfPtr, 0), 14},                                // 15
	))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"void", "int", "int *", "int *const", "int *const *", "int [4]", "int (*)[4]", "int *(int, ...)",
		"int *(*)(int, ...)", "const int", "struct {…}", "int [3][4]", "union s", "void (void)",
	} {
		if got := b.TypeName(TypeID(i)); got != want {
			t.Errorf("type %d: got %q, want %q", i, got, want)
		}
	}
	if got := b.TypeName(14); !strings.HasPrefix(got, "…") {
		t.Errorf("a loop: got %q", got)
	}
}

// The encoding of bit-fields before kind_flag: in an integer of its own.
func TestOldBitFields(t *testing.T) {
	names := []string{"unsigned int", "a", "b", "s", "p"}
	off := func(n string) uint32 { return nameOff(names, n) }
	b, err := ParseBTF(rawBTF(names,
		[]uint32{off("unsigned int"), info(btfInt, 0), 4, 32},
		[]uint32{off("unsigned int"), info(btfInt, 0), 4, 5},
		[]uint32{off("unsigned int"), info(btfInt, 0), 4, 3<<16 | 6},
		[]uint32{off("s"), info(btfStruct, 3), 8, off("a"), 1, 0, off("b"), 2, 35, off("p"), 3, 40},
		[]uint32{off("p"), info(btfStruct, 1), 3, off("a"), 2, 18}, // packed: 3 bytes
	))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ  TypeID
		want Field
	}{
		{4, Field{Name: "a", Type: 1}},
		{4, Field{Name: "b", Type: 2, Off: 4, Bit: 3, BitSize: 5, Load: 4}},
		{4, Field{Name: "p", Type: 3, Off: 4, Bit: 11, BitSize: 6, Load: 4}},
		{5, Field{Name: "a", Type: 2, Off: 2, Bit: 2, BitSize: 5, Load: 1}},
	} {
		if got, err := b.Field(c.typ, c.want.Name); err != nil || got != c.want {
			t.Errorf("got %+v, %v, want %+v", got, err, c.want)
		}
	}
}

// Before pahole marked signed enums, enumerators were ints.
func TestOldEnumsAreSigned(t *testing.T) {
	names := []string{"e", "M1"}
	b, err := ParseBTF(rawBTF(names, []uint32{1, info(btfEnum, 1), 4, 3, 1<<32 - 1}))
	if err != nil {
		t.Fatal(err)
	}
	if v, _, ok := b.EnumValue("M1"); !ok || v != -1 {
		t.Errorf("got %d, %v", v, ok)
	}
}

func TestBadBTF(t *testing.T) {
	good := rawBTF([]string{"x"}, []uint32{1, info(btfInt, 0), 4, 32})
	for text, damage := range map[string]func(b []byte) []byte{
		"shorter":         func(b []byte) []byte { return b[:20] },
		"magic":           func(b []byte) []byte { b[0] = 0; return b },
		"big-endian":      func(b []byte) []byte { b[0], b[1] = b[1], b[0]; return b },
		"version 9":       func(b []byte) []byte { b[2] = 9; return b },
		"header of 255":   func(b []byte) []byte { b[4] = 255; return b },
		"header of 8":     func(b []byte) []byte { b[4] = 8; return b },
		"types: ":         func(b []byte) []byte { b[15] = 0xff; return b },
		"strings: ":       func(b []byte) []byte { b[23] = 0xff; return b },
		"NUL":             func(b []byte) []byte { b[len(b)-1] = 'x'; return b },
		"type 1 is cut":   func(b []byte) []byte { b[12] = 12; return b },
		"unknown kind 99": func(b []byte) []byte { b[31] = 99; return b },
		"unknown kind 0":  func(b []byte) []byte { b[31] = 0; return b },
		"type 2 is cut off": func([]byte) []byte {
			return rawBTF(nil, []uint32{0, info(btfPtr, 0), 0}, []uint32{0, info(btfStruct, 2), 0, 0, 0, 0})
		},
	} {
		if _, err := ParseBTF(damage(slices.Clone(good))); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("want %q, got %v", text, err)
		}
	}
}

func TestNames(t *testing.T) {
	b := fixture(t)
	if got := b.Names(KindEnum); !slices.Equal(got, []string{"plain", "state", "wide"}) {
		t.Errorf("got %v", got)
	}
	if _, ok := b.Named(KindUnion, "task"); ok {
		t.Error("task is a struct")
	}
}
