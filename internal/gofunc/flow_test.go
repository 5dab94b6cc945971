package gofunc

import "testing"

// A loop whose test stands behind its body is entered by a jump.
func TestEntryOfLoop(t *testing.T) {
	for arch, code := range map[string]struct {
		bytes                []byte
		enters, turns, tests int
	}{
		"amd64": {[]byte{0xeb, 3, // jmp 5
			0x48, 0xff, 0xc0, // 2: inc rax
			0x48, 0x83, 0xf8, 3, // 5: cmp rax, 3
			0x7c, 0xf7, // jl 2
			0xc3}, 0, 2, 5},
		"arm64": {[]byte{2, 0, 0, 0x14, // b 8
			0, 4, 0, 0x91, // 4: add x0, x0, #1
			0x1f, 0x0c, 0, 0xf1, // 8: cmp x0, #3
			0xcb, 0xff, 0xff, 0x54, // b.lt 4
			0xc0, 3, 0x5f, 0xd6}, 0, 4, 8},
	} {
		flow, err := NewFlow(arch, code.bytes)
		if err != nil {
			t.Fatal(err)
		}
		all, behind := func(int) bool { return true }, func(offset int) bool { return offset > code.enters }
		for _, c := range []struct {
			from int
			own  func(int) bool
			want int
		}{{code.turns, all, code.enters}, {code.tests, all, code.enters}, {code.turns, behind, code.enters},
			{code.tests, behind, code.tests}, {code.enters, all, code.enters}} {
			if got := flow.Entry(c.from, c.own); got != c.want {
				t.Errorf("%s: the loop with %d begins at %d, want %d", arch, c.from, got, c.want)
			}
		}
		if flow.JumpedTo(code.enters) || !flow.JumpedTo(code.turns) || !flow.JumpedTo(code.tests) {
			t.Errorf("%s: where jumps go is wrong", arch)
		}
	}
}

// Code is entered where a way from outside leads to it, and not where padding lies in front of its middle.
func TestEnteredAt(t *testing.T) {
	flow, err := NewFlow("amd64", []byte{
		0xeb, 0x07, // jmp 9
		0x66, 0x90, // 2: padding, which never runs
		0x48, 0xff, 0xc0, // 4: inc rax, the middle of the code
		0x7f, 0x07, // 7: jg 16, around the code
		0x48, 0xff, 0xc8, // 9: dec rax, where the code is entered
		0x7c, 0xf6, // 12: jl 4, of the code
		0xeb, 0xf4, // 14: jmp 4, of the code
		0xc3, // 16
	})
	if err != nil {
		t.Fatal(err)
	}
	code := func(offset int) bool { return offset >= 2 && offset < 7 || offset >= 9 && offset < 16 }
	all := func(offset int) bool { return offset >= 2 && offset < 16 }
	for _, c := range []struct {
		from int
		own  func(int) bool
		want int
	}{{2, code, 9}, {4, code, 9}, {9, code, 9}, {2, all, 9}, {7, func(at int) bool { return at == 7 || at == 16 }, 7}} {
		if got := flow.EnteredAt(c.from, false, c.own); got != c.want {
			t.Errorf("what is said to begin at %d is entered at %d, want %d", c.from, got, c.want)
		}
	}
}
