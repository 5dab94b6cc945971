package value

import (
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// namedStacks is a table of stacks that are known by name.
type namedStacks map[uint64][]Frame

func (n namedStacks) Frames(id uint64) []Frame {
	if f := n[id]; f != nil {
		return f
	}
	return []Frame{}
}

func (n namedStacks) Short(id uint64) string {
	switch {
	case len(n[id]) == 0:
		return "no user stack: a thread of the kernel, or a program that begins or ends just now"
	case id == 9:
		return "cut at 3 frames"
	}
	return ""
}

// Unfinished is said of stack 11.
func (n namedStacks) Unfinished(id uint64) bool { return id == 11 }

// Merged makes one of stacks 7 and 13.
func (n namedStacks) Merged(id uint64) uint64 {
	if id == 7 || id == 13 {
		return 8
	}
	return id
}

func (n namedStacks) MergedFrame(f Frame) Frame {
	return Frame{Name: f.Name, Module: f.Module, User: f.User}
}

var someStacks = namedStacks{
	7: {{Name: "vfs_write", Offset: 1, Addr: 0x101}, {Name: "nft_do", Offset: 0x20, Module: "nf_tables", Addr: 0x220},
		{Name: "a;b", Addr: 0x300}},
	13: {{Name: "vfs_write", Offset: 9, Addr: 0x109}, {Name: "nft_do", Offset: 0x20, Module: "nf_tables", Addr: 0x220},
		{Name: "a;b", Addr: 0x300}},
	8:  {{Name: "vfs_write"}, {Name: "nft_do", Module: "nf_tables"}, {Name: "a;b"}},
	11: {{Name: "read", Addr: 0x10, User: true}},
	9: {{Name: "write", Offset: 0x10, Module: "libc.so.6", Addr: 0x10, User: true},
		{Name: "app+0x20", Module: "app", Addr: 0x20, User: true}, {Name: "0x30", Addr: 0x30, User: true}},
}

// What scripts see of a stack.
//
// > A stack without frames is false.
// > Two stacks of the same addresses are equal, and user stacks if they are of the same process, too.
func TestStack(t *testing.T) {
	env := starlark.StringDict{"s": Stack{7, someStacks}, "same": Stack{7, someStacks}, "u": Stack{9, someStacks},
		"none": Stack{2, someStacks}, "loop": Stack{13, someStacks}, "lost": Stack{11, someStacks}}
	for _, c := range []struct{ expr, want string }{
		{"len(s), len(u), len(none)", "(3, 3, 0)"},
		{"s[0]", "vfs_write+0x1"},
		{"s[-1]", "a;b"},
		{"[f.name for f in s]", `["vfs_write", "nft_do", "a;b"]`},
		{"[f.module for f in s]", `[None, "nf_tables", None]`},
		{"[(f.offset, f.addr) for f in u]", "[(16, 16), (0, 32), (0, 48)]"},
		{"s[1:]", "(nft_do+0x20, a;b)"},
		{"s[::-1]", "(a;b, nft_do+0x20, vfs_write+0x1)"},
		{`"nft_do" in s, "nft" in s, s[1] in s, u[1] in s`, "(True, False, True, False)"},
		{"s.folded()", `"a:b;nft_do;vfs_write"`},
		{"none.folded()", `""`},
		{"lost.folded()", `"…;read"`},
		{"bool(s), bool(none)", "(True, False)"},
		{"s == same, s == u, s[0] == same[0], s[0] == u[0]", "(True, False, True, False)"},
		{"{s: 1, u: 2}[same]", "1"},
		{"{s[0]: 1}[same[0]]", "1"},
		{"s.merged(), s.merged() == loop.merged(), s == loop, s.merged() == s", `(    vfs_write
    nft_do [nf_tables]
    a;b
, True, False, False)`},
		{"s.merged().merged() == s.merged(), u.merged() == u, bool(s.merged())", "(True, True, True)"},
		{"str(s)", `"    vfs_write+0x1\n    nft_do+0x20 [nf_tables]\n    a;b\n"`},
		{"str(u)", `"    write+0x10 (libc.so.6)\n    app+0x20\n    0x30\n    … cut at 3 frames\n"`},
		{"str(none)", `"    (no user stack: a thread of the kernel, or a program that begins or ends just now)\n"`},
		{"type(s), type(s[0])", `("stack", "frame")`},
		{"s[3]", "error: stack index 3 out of range [-3:2]"},
		{"1 in s", "error: 'in <stack>' wants a function's name or a frame, got int"},
		{"s < u", "error: stacks have no order: compare their lengths, or the .name of their frames"},
		{"s[0] >= s[1]", "error: frames have no order: compare their .name or .addr"},
		{"s.depth", "error: stack has no .depth field or method"},
	} {
		got := ""
		v, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "", c.expr, env)
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = v.String()
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.expr, got, c.want)
		}
	}
}
