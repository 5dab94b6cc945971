package elffile

import "testing"

// The sections of code are those that hold the functions, by address, and none of data.
func TestCodeSections(t *testing.T) {
	f := open(t, compile(t, "gcc", cSource), Options{})
	list := f.CodeSections()
	for i := range list[1:] {
		if list[i].End() > list[i+1].Addr {
			t.Errorf("%+v reaches into %+v", list[i], list[i+1])
		}
	}
	main := lookup(t, f, "main")
	for _, s := range list {
		if holds := main.Addr >= s.Addr && main.Addr < s.End(); holds != (s.Name == ".text") {
			t.Errorf("main at %#x: %+v", main.Addr, s)
		}
		if s.Name == ".data" || s.Name == ".rodata" {
			t.Errorf("%+v is no code", s)
		}
	}
}
