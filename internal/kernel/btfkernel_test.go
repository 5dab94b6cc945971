package kernel

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"
)

func kernelBTF(tb testing.TB) *BTF {
	tb.Helper()
	b, err := OpenBTF()
	if err != nil {
		tb.Skip("needs BTF of the kernel (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux):", err)
	}
	return b
}

// needOurArch: an emulator of programs shows files of a kernel of another architecture.
func needOurArch(t *testing.T) {
	t.Helper()
	arch, err := os.ReadFile("/proc/sys/kernel/arch") // since 6.1
	if err != nil {
		return
	}
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		t.Fatal(err)
	}
	own, kernels := unix.ByteSliceToString(uts.Machine[:]), strings.TrimSpace(string(arch))
	if own != kernels {
		t.Skipf("needs a kernel of %s to compare with, not of %s: this is an emulator of programs", own, kernels)
	}
}

// What is called like an iterator is one if it is declared like one.
func TestIterators(t *testing.T) {
	var names []string
	for _, it := range kernelBTF(t).iterators() {
		names = append(names, it.Name)
	}
	if !slices.Contains(names, "task") || slices.Contains(names, "get_info") {
		t.Errorf("iterators %v", names)
	}
}

// Every member of every struct of this kernel, against another reader.
func TestFieldsAgainstOtherReader(t *testing.T) {
	b := kernelBTF(t)
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		t.Skip("needs BTF of the kernel (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux):", err)
	}
	structs := 0
	for typ, err := range spec.All() {
		if err != nil {
			t.Fatal(err)
		}
		st, ok := typ.(*btf.Struct)
		if !ok || st.Name == "" {
			continue
		}
		id, err := spec.TypeID(st)
		if err != nil {
			t.Fatal(err)
		}
		structs++
		sameMembers(t, b, TypeID(id), st)
	}
	if structs < 1000 {
		t.Errorf("only %d structs", structs)
	}
}

func sameMembers(t *testing.T, b *BTF, id TypeID, st *btf.Struct) {
	ty, err := b.Type(id)
	if err != nil || ty.Name != st.Name || ty.Size != int(st.Size) || len(ty.Members) != len(st.Members) {
		t.Errorf("struct %s: got %+v, %v", st.Name, ty, err)
		return
	}
	for i, m := range st.Members {
		got := ty.Members[i]
		bits := got.Off*8 + int(got.Bit)
		if got.Name != m.Name || bits != int(m.Offset) || int(got.BitSize) != int(m.BitfieldSize) {
			t.Errorf("struct %s: member %s: got %+v, want %+v", st.Name, m.Name, got, m)
		}
		if got.BitSize > 0 && (int(got.Bit)+int(got.BitSize) > 8*int(got.Load) || got.Off+int(got.Load) > ty.Size) {
			t.Errorf("struct %s: member %s of %d bytes: %+v does not fit its load", st.Name, m.Name, ty.Size, got)
		}
		size, err := b.Size(got.Type)
		if want, err2 := btf.Sizeof(m.Type); err == nil && err2 == nil && size != want {
			t.Errorf("struct %s: member %s: %d bytes, want %d", st.Name, m.Name, size, want)
		}
	}
}

// The outline of each type of this kernel is the type but for its parts.
func TestOutlines(t *testing.T) {
	b := kernelBTF(t)
	parts := 0
	for id := range TypeID(b.Len() + 1) {
		whole, err := b.Type(id)
		got, err2 := Outline(b, id)
		if err != nil || err2 != nil {
			t.Fatalf("type %d: %v, %v", id, err, err2)
		}
		parts += len(whole.Members) + len(whole.Enums) + len(whole.Params)
		if whole.Members, whole.Enums, whole.Params = nil, nil, nil; !reflect.DeepEqual(got, whole) {
			t.Errorf("the outline is %+v, the type %+v", got, whole)
		}
	}
	if parts < 10000 {
		t.Errorf("only %d members, values of enums and parameters", parts)
	}
}

// Paths that scripts use, on whatever kernel this is.
func TestKernelPaths(t *testing.T) {
	b := kernelBTF(t)
	for _, path := range [][]string{
		{"task_struct", "mm", "owner", "comm"},
		{"task_struct", "real_parent", "tgid"},
		{"task_struct", "nsproxy", "pid_ns_for_children", "ns", "inum"},
		{"sock", "__sk_common", "skc_dport"},
		{"sock", "__sk_common", "skc_daddr"}, // in an anonymous struct of an anonymous union
		{"sk_buff", "len"},
		{"file", "f_path", "dentry", "d_name", "name"}, // f_path: in an anonymous union since 6.12
		{"inode", "i_sb", "s_dev"},
	} {
		id := named(t, b, KindStruct, path[0])
		for _, name := range path[1:] {
			f, err := b.Field(pointee(b, id), name)
			if err != nil {
				t.Error(path, err)
				break
			}
			id = f.Type
		}
	}
	_, err := b.Field(named(t, b, KindStruct, "task_struct"), "tgidd")
	var no *NoFieldError
	if !errors.As(err, &no) || no.Near != "tgid" {
		t.Errorf("got %v", err)
	}
}

func pointee(b *BTF, id TypeID) TypeID {
	if ty, err := b.Type(b.Skip(id)); err == nil && ty.Kind == KindPtr {
		return ty.Elem
	}
	return id
}

func TestKernelEnumValue(t *testing.T) {
	b := kernelBTF(t)
	v, id, ok := b.EnumValue("TCP_ESTABLISHED")
	if ty, err := b.Type(id); !ok || v != 1 || err != nil || ty.Kind != KindEnum {
		t.Errorf("got %d, %d, %v, %v", v, id, ok, err)
	}
	if v, _, ok := b.EnumValue("BPF_MAP_TYPE_RINGBUF"); !ok || v != 27 {
		t.Errorf("got %d, %v", v, ok)
	}
}

func BenchmarkOpenBTF(b *testing.B) {
	kernelBTF(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := OpenBTF(); err != nil {
			b.Fatal(err)
		}
	}
}

// What the first field of a script costs, all in all.
func BenchmarkOpenNamedField(b *testing.B) {
	kernelBTF(b)
	b.ReportAllocs()
	for b.Loop() {
		k, err := OpenBTF()
		if err != nil {
			b.Fatal(err)
		}
		benchField(b, k)
	}
}

func benchField(b *testing.B, k *BTF) {
	id, ok := k.Named(KindStruct, "task_struct")
	if !ok {
		b.Fatal("no task_struct")
	}
	if _, err := k.Field(id, "comm"); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkNamedField(b *testing.B) {
	k := kernelBTF(b)
	b.ReportAllocs()
	for b.Loop() {
		benchField(b, k)
	}
}

func BenchmarkRawTracepoint(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		f := Open(Options{})
		if _, err := f.RawTracepoint("sched_switch"); err != nil {
			b.Skip("needs BTF of the kernel (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux):", err)
		}
	}
}

func BenchmarkFirstEnumValue(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		k := kernelBTF(b)
		if _, _, ok := k.EnumValue("TCP_ESTABLISHED"); !ok {
			b.Fatal("no TCP_ESTABLISHED")
		}
	}
}

// Enumerators are found by the enum's name, and by how they begin.
func TestEnumerators(t *testing.T) {
	b := kernelBTF(t)
	for name, want := range map[string]EnumValue{
		"pid_type":   {"PIDTYPE_TGID", 1},
		"PIDTYPE_":   {"PIDTYPE_PGID", 2},
		"TCP_SYN_RE": {"TCP_SYN_RECV", 3}, // of an enum without a name
	} {
		if got := b.Enumerators(name); !slices.Contains(got, want) {
			t.Errorf("%s: %v, want %v among them", name, got, want)
		}
	}
	if got := append(b.Enumerators(""), b.Enumerators("no_such_enum")...); got != nil {
		t.Errorf("got %v of enums that are not there", got)
	}
}
