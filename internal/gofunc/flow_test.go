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
