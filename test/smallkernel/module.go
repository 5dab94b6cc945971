package smallkernel

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// The BTF of a small module.

// Module is the BTF of a module of the kernel with this BTF. It has one struct, of one int of the kernel's.
func Module(t testing.TB, base []byte, name, member string) []byte {
	t.Helper()
	spec, err := btf.LoadSpecFromReader(bytes.NewReader(base))
	if err != nil {
		t.Fatal(err)
	}
	integer := &btf.Int{}
	if err := spec.TypeByName("int", &integer); err != nil {
		t.Fatal(err)
	}
	id, err := spec.TypeID(integer)
	if err != nil {
		t.Fatal(err)
	}
	const header, structKind = 24, 4
	strs := []byte("\x00" + name + "\x00" + member + "\x00")
	kernelStrs := binary.NativeEndian.Uint32(base[20:]) // the module's strings are numbered behind these
	types := []uint32{kernelStrs + 1, structKind<<24 | 1, 4, kernelStrs + 2 + uint32(len(name)), uint32(id), 0}
	size := uint32(4 * len(types))
	out := binary.NativeEndian.AppendUint16(nil, 0xeb9f)
	out = append(out, 1, 0) // the version, no flags
	for _, word := range append([]uint32{header, 0, size, size, uint32(len(strs))}, types...) {
		out = binary.NativeEndian.AppendUint32(out, word)
	}
	return append(out, strs...)
}
