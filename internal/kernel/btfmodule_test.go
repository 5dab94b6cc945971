package kernel

import (
	"slices"
	"testing"
)

// moduleBlob is the BTF of a module that has
//
//	struct PREFIX_dev { int a; struct PREFIX_dev *next; };
//	int PREFIX_open(struct PREFIX_dev *dev);
//
// and the raw tracepoint PREFIX_event with the same argument, as split from base.
func moduleBlob(t *testing.T, base *BTF, prefix string) []byte {
	t.Helper()
	integer := uint32(named(t, base, KindInt, "int"))
	own := uint32(base.Len()) + 1
	dev, pdev, proto, trace, ptrace := own, own+1, own+2, own+4, own+5
	strs := []string{prefix + "_dev", "a", "next", prefix + "_open", "dev", btfTrace + prefix + "_event"}
	at := make([]uint32, len(strs))
	off := uint32(len(base.strs))
	for i, s := range strs {
		at[i] = off + 1 // rawBTF begins with a NUL
		off += uint32(len(s)) + 1
	}
	return rawBTF(strs, []uint32{
		at[0], info(btfStruct, 2), 16, at[1], integer, 0, at[2], pdev, 64,
		0, info(btfPtr, 0), dev,
		0, info(btfProto, 1), integer, at[4], pdev,
		at[3], info(btfFunc, 0), proto,
		0, info(btfProto, 2), 0, 0, 0, 0, pdev,
		0, info(btfPtr, 0), trace,
		at[5], info(btfTypedef, 0), ptrace,
	})
}

// Functions and raw tracepoints of modules have the types of their module's BTF, also where several modules number
// theirs alike.
func TestModuleTypes(t *testing.T) {
	base := fixture(t)
	f := Open(Options{BTF: fixtureBTF(t), TracefsPath: t.TempDir(), ModuleBTF: map[string][]byte{
		"one": moduleBlob(t, base, "one"), "two": moduleBlob(t, base, "second"),
	}})
	b, err := f.BTF()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ module, prefix string }{{"two", "second"}, {"one", "one"}} {
		fn := f.Typed(FunctionName{Name: c.prefix + "_open", Module: c.module})
		if fn.ID == 0 || fn.BTF != uint32(base.Len())+4 || len(fn.Params) != 1 || fn.Params[0].Name != "dev" ||
			b.TypeName(fn.Ret) != "int" {
			t.Errorf("%s: got %+v", c.prefix, fn)
			continue
		}
		dev := pointee(b, fn.Params[0].Type)
		if got := b.TypeName(dev); got != "struct "+c.prefix+"_dev" {
			t.Errorf("%s: the argument points at %s", c.prefix, got)
		}
		next, err := b.Field(dev, "next")
		if err != nil || next.Off != 8 || pointee(b, next.Type) != dev {
			t.Errorf("%s: next is %+v, %v", c.prefix, next, err)
		}
		a, err := b.Field(dev, "a")
		if err != nil || b.TypeName(a.Type) != "int" {
			t.Errorf("%s: a is %+v, %v", c.prefix, a, err)
		}
		rt, err := f.RawTracepoint(c.prefix + "_event")
		if err != nil || len(rt.Params) != 1 || pointee(b, rt.Params[0].Type) != dev {
			t.Errorf("%s: the raw tracepoint is %+v, %v", c.prefix, rt, err)
		}
	}
	if got, err := f.MatchRawTracepoints("*_event"); err != nil ||
		!slices.Equal(got, []string{"one_event", "second_event"}) {
		t.Errorf("got %v, %v", got, err)
	}
	if fn := f.Typed(FunctionName{Name: "one_open", Module: "three"}); fn.ID != 0 || fn.Name != "one_open" {
		t.Errorf("of a module without types: %+v", fn)
	}
}

// Types and constants of modules are found by their names; two that differ are ambiguous, those that are alike are one.
//
// > Where the kernel proper has no such type, those of loaded modules are meant, from Linux 5.11 on. Two modules can
// > have different ones of a name.
// > Then, and where the kernel has another one, the module stands before it: `cast("xfs:struct xfs_inode", p)`.
// > The same holds for constants of enums, and for `names(v, "FAMILY")`, without a module before them.
func TestTypesInModules(t *testing.T) {
	base := fixture(t)
	integer := uint32(named(t, base, KindInt, "int"))
	// struct item { int key; } or with another member, and enum hue { HUE_RED = value }.
	module := func(member string, value uint32) []byte {
		strs := []string{"item", member, "hue", "HUE_RED"}
		at := make([]uint32, len(strs))
		off := uint32(len(base.strs))
		for i, s := range strs {
			at[i] = off + 1
			off += uint32(len(s)) + 1
		}
		return rawBTF(strs, []uint32{
			at[0], info(btfStruct, 1), 4, at[1], integer, 0,
			at[2], info(btfEnum, 1), 4, at[3], value,
		})
	}
	for _, c := range []struct {
		second []byte
		differ bool
	}{{module("key", 7), false}, {module("id", 8), true}} {
		f := Open(Options{BTF: fixtureBTF(t), TracefsPath: t.TempDir(), ModuleBTF: map[string][]byte{
			"one": module("key", 7), "two": c.second}})
		for _, spelled := range []string{"struct item", "enum hue"} {
			_, ok, err := InModules(f).Spelled("", spelled)
			if ok == c.differ || (err != nil) != c.differ {
				t.Errorf("%s, differ %t: %t, %v", spelled, c.differ, ok, err)
			}
			if _, ok, err := InModules(f).Spelled("two", spelled); !ok || err != nil {
				t.Errorf("%s of one module: %t, %v", spelled, ok, err)
			}
		}
		v, ok, err := InModules(f).EnumValue("HUE_RED")
		if ok == c.differ || (err != nil) != c.differ || ok && v != 7 {
			t.Errorf("a constant, differ %t: %d, %t, %v", c.differ, v, ok, err)
		}
		if err := f.NameFamily("hue"); (err != nil) != c.differ {
			t.Errorf("a family of names, differ %t: %v", c.differ, err)
		}
		if _, ok, err := InModules(f).Spelled("", "struct none"); ok || err != nil {
			t.Errorf("a type that no module has: %t, %v", ok, err)
		}
		if name, ok := InModules(f).Name("one"); !ok || name != "one" {
			t.Errorf("the module's name: %q, %t", name, ok)
		}
	}
}
