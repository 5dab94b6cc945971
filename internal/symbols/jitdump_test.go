package symbols

import (
	"encoding/binary"
	"testing"
)

// jitRecord is a record of a jitdump file.
func jitRecord(kind uint32, name string, words ...uint64) (out []byte) {
	var body []byte
	body = binary.LittleEndian.AppendUint64(body, 77<<32|77)
	for _, w := range words {
		body = binary.LittleEndian.AppendUint64(body, w)
	}
	if name != "" {
		body = append(append(body, name...), 0, 0x90, 0xc3)
	}
	out = binary.LittleEndian.AppendUint32(out, kind)
	out = binary.LittleEndian.AppendUint32(out, uint32(jitPrefix+len(body)))
	return append(binary.LittleEndian.AppendUint64(out, 1), body...)
}

func jitFile(records ...[]byte) string {
	out := make([]byte, jitHeader)
	binary.LittleEndian.PutUint32(out, jitMagic)
	binary.LittleEndian.PutUint32(out[8:], jitHeader)
	for _, r := range records {
		out = append(out, r...)
	}
	return string(out)
}

// > Code that a program compiles itself has the names that the program tells in `/tmp/perf-PID.map`, or else in a
// > jitdump file that it maps.
func TestJITDump(t *testing.T) {
	whole := jitFile(jitRecord(jitLoad, "first", 0x1000, 0x1000, 0x20, 1), jitRecord(4, "", 9),
		jitRecord(jitLoad, "second", 0x2000, 0x2000, 0x10, 2), jitRecord(jitMove, "", 0x3000, 0x1000, 0x3000, 0x20, 1),
		jitRecord(jitMove, "", 0x3000, 0x1000, 0x4000, 0x20, 9))
	m := perfMap{functions: parseJITDump(whole)}
	for addr, want := range map[uint64]string{0x1000: "first", 0x101f: "first", 0x1020: "", 0x200f: "second",
		0x3001: "first", 0x4000: ""} {
		if fn, _ := m.find(addr); fn.name != want {
			t.Errorf("%#x: got %q, want %q", addr, fn.name, want)
		}
	}
	for n := range len(whole) { // as it is while it is written
		if got := parseJITDump(whole[:n]); len(got) > 3 {
			t.Errorf("%d bytes: %v", n, got)
		}
	}
}

func FuzzJITDump(f *testing.F) {
	f.Add(jitFile(jitRecord(jitLoad, "first", 0x1000, 0x1000, 0x20, 1),
		jitRecord(jitMove, "", 0x3000, 0x1000, 0x3000, 0x20, 1)))
	f.Fuzz(func(t *testing.T, text string) {
		for _, fn := range parseJITDump(text) {
			if fn.name == "" || fn.size == 0 || fn.start+fn.size < fn.start {
				t.Errorf("%+v", fn)
			}
		}
	})
}
