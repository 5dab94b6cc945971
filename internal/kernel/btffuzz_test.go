package kernel

import "testing"

// Whatever the input, every method returns.
func FuzzBTF(f *testing.F) {
	f.Add(fixtureBTF(f))
	f.Add(rawBTF([]string{"a"}, []uint32{1, info(btfTypedef, 0), 1}))
	// A struct of anonymous members of itself, many of them.
	self := []uint32{0, info(btfStruct, 8), 8}
	for range 8 {
		self = append(self, 0, 1, 0)
	}
	f.Add(rawBTF(nil, self))
	f.Add(rawBTF(nil, []uint32{0, info(btfArray, 0), 0, 1, 1, 1 << 31}))
	f.Fuzz(func(t *testing.T, blob []byte) {
		b, err := ParseBTF(blob)
		if err != nil {
			return
		}
		for id := range TypeID(min(b.Len(), 100) + 2) {
			useType(b, id)
		}
		b.EnumValue("RUN")
		b.Names(KindStruct)
		facts := Open(Options{BTF: blob})
		for _, name := range b.rawTracepoints() {
			_, _ = facts.RawTracepoint(name) // an error is fine
		}
	})
}

func useType(b *BTF, id TypeID) {
	ty, err := b.Type(id)
	if err != nil {
		return
	}
	b.TypeName(id)
	_ = b.Skip(id)
	_, _ = b.Size(id) // an error is fine
	b.Named(ty.Kind, ty.Name)
	for i, name := range b.Fields(id) {
		if i == 20 {
			break
		}
		_, _ = b.Field(id, name)
	}
}
