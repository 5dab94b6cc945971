package bpfgen

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/ssagen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// listRoom is the room of lists in these tests.
const listRoom = 64

func stringList(list *tree.Expr) *tree.Expr {
	t := types.Type{Kind: types.Bytes, Cap: listRoom, Label: "strlist", MayFault: true}
	return &tree.Expr{Op: tree.OpStrList, Type: t, Str: tree.User, Args: []*tree.Expr{list}}
}

func joinedList(list *tree.Expr) *tree.Expr {
	e := &tree.Expr{Op: tree.OpJoin, Type: types.StrOf(listRoom).OrFault(), Str: tree.User}
	e.Args = []*tree.Expr{list, text(" ")}
	return e
}

// unreadable stands for a string at an address that cannot be read.
const unreadable = "\x00"

// A userList is a char ** in this process's memory.
type userList struct {
	ptrs []uintptr
	keep [][]byte
}

func newUserList(list []string) *userList {
	u := &userList{}
	for _, s := range list {
		if s == unreadable {
			u.ptrs = append(u.ptrs, 8)
			continue
		}
		b := append([]byte(s), 0)
		u.keep = append(u.keep, b)
		u.ptrs = append(u.ptrs, uintptr(unsafe.Pointer(&b[0])))
	}
	u.ptrs = append(u.ptrs, 0)
	return u
}

func (u *userList) addr() uint64 { return uint64(uintptr(unsafe.Pointer(&u.ptrs[0]))) }

// packed is what OpStrList gives: the strings with their NULs, each behind the byte that says whether it could be read,
// cut by the number of strings and by the room.
func packed(list []string) (text string, cut bool) {
	return strung(list, "\x01", "\x02")
}

// strung puts strings together: behind head, or fault in the place of both.
func strung(list []string, head, fault string) (text string, cut bool) {
	for i, s := range list {
		if i == 128 {
			return text, true
		}
		if s = head + s; s == head+unreadable {
			s = fault
		}
		text += s + "\x00"
		if len(text) > listRoom {
			return text[:listRoom], true
		}
	}
	return text, cut
}

// spaced is the same with spaces, as OpJoin gives it.
func spaced(list []string) (string, bool) {
	s, cut := strung(list, "", "<fault>")
	if len(s) == listRoom && cut {
		s = s[:listRoom-1] + "x" // there is no room for the last byte
	}
	if s != "" {
		s = s[:len(s)-1]
	}
	return strings.ReplaceAll(s, "\x00", " "), cut
}

func mark(s string, cut bool) string {
	if cut {
		return s + "…"
	}
	return s
}

// listSamples are lists about the limits.
func listSamples() [][]string {
	many := func(n int, s string) []string { return strings.Split(strings.Repeat(s+",", n)+s, ",") }
	out := [][]string{
		{}, {""}, {"", ""}, {"ls", "-l", "/etc"}, {"ls", "", "-l", ""}, {"a b", " ", "c"},
		{"x", unreadable, "y"}, {unreadable}, slices.Repeat([]string{unreadable}, 30),
		slices.Repeat([]string{"a", unreadable}, 4), {strings.Repeat("long", 100)},
		{"x", strings.Repeat("long", 100)},
		many(31, "a"), many(30, "a"), many(32, "a"), many(63, ""), many(64, ""), many(200, ""), many(10, "abcdef"),
	}
	for n := range 4 {
		out = append(out, []string{strings.Repeat("e", listRoom-3+n)},
			[]string{"ab", strings.Repeat("e", listRoom-6+n)})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var list []string
		for range r.IntN(12) {
			list = append(list, strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(15)))
		}
		out = append(out, list)
	}
	return out
}

// byEachLoop runs a test with loops over lists that the verifier follows, and with those that the kernel runs.
func byEachLoop(t *testing.T, test func(*testing.T, Options)) {
	t.Helper()
	t.Run("followed", func(t *testing.T) { test(t, Options{Outlining: ssagen.NeverCall}) })
	t.Run("run", func(t *testing.T) {
		if o := For(runningKernel(t)); !o.HasLoop || o.Outlining == ssagen.NeverCall {
			t.Skip("needs a kernel to whose bpf_loop lists are left (6.2)")
		}
		test(t, Options{HasLoop: true})
	})
}

// TestStringLists compares lists and joined lists with Go's.
func TestStringLists(t *testing.T) { byEachLoop(t, testStringLists) }

func testStringLists(t *testing.T, o Options) {
	t.Helper()
	list := arg(0, types.U64)
	fields := []*tree.Expr{stringList(list), joinedList(list)}
	u := &tree.Unit{
		Records: []*wire.Record{layout.Record(0, 0, []string{"list", "text"},
			[]types.Type{fields[0].Type, fields[1].Type})},
		Programs: []*tree.Program{program(nil, stmt(tree.SSend, 0, fields...))},
	}
	c, unit := load(t, u, o)
	if info, err := c.Programs["p0"].Info(); err == nil {
		n, _ := info.VerifiedInstructions()
		t.Logf("%d instructions, of which the verifier visited %d", len(unit.Spec.Programs["p0"].Instructions), n)
	}
	r := newRing(t, c.Maps[MapRing])
	send := func(addr uint64) (string, string) {
		run(t, c, addr)
		rec := r.next(t)
		return recordString(u.Records[0].Fields[0].Type.Off, rec), recordString(u.Records[0].Fields[1].Type.Off, rec)
	}
	for _, l := range listSamples() {
		mem := newUserList(l)
		gotList, gotText := send(mem.addr())
		runtime.KeepAlive(mem)
		if want := mark(packed(l)); gotList != want {
			t.Errorf("%q: got %q, want %q", l, gotList, want)
		}
		if want := mark(spaced(l)); gotText != want {
			t.Errorf("%q joined: got %q, want %q", l, gotText, want)
		}
	}
	for _, addr := range []uint64{0, 8, lastPointer(t)} {
		if l, s := send(addr); l != "<fault>" || s != "<fault>" {
			t.Errorf("a list at %#x: got %q and %q", addr, l, s)
		}
	}
}

// TestListLen counts strings, and takes the first of a list for one that cannot be read.
func TestListLen(t *testing.T) { byEachLoop(t, testListLen) }

func testListLen(t *testing.T, o Options) {
	t.Helper()
	addr, hole := arg(0, types.U64), op(tree.OpNe, types.Boolean, arg(1, types.U64), konst(0))
	count := &tree.Expr{Op: tree.OpListLen, Type: types.I64, Str: tree.User, Args: []*tree.Expr{addr, konst(listRoom)}}
	list, text := stringList(addr), joinedList(addr)
	list.Args, text.Args = append(list.Args, hole), append(text.Args, hole)
	u := &tree.Unit{
		Records: []*wire.Record{layout.Record(0, 0, []string{"count", "list", "text"},
			[]types.Type{count.Type, list.Type, text.Type})},
		Programs: []*tree.Program{program(nil, stmt(tree.SSend, 0, count, list, text))},
	}
	c, _ := load(t, u, o)
	r := newRing(t, c.Maps[MapRing])
	for _, l := range listSamples() {
		mem := newUserList(l)
		for first := range uint64(2) {
			run(t, c, mem.addr(), first)
			rec := r.next(t)
			fields := u.Records[0].Fields
			n := int64(binary.LittleEndian.Uint64(rec[fields[0].Type.Off:]))
			want := int64(len(l))
			if slices.Contains(l, unreadable) {
				want += tree.ListHoles
			}
			if len(l) > 128 && !o.HasLoop {
				want = -1
			}
			seen := slices.Clone(l)
			if first == 1 && len(l) > 0 {
				seen[0] = unreadable
			}
			if n != want {
				t.Errorf("%q: counted %#x, want %#x", l, n, want)
			}
			if got, want := recordString(fields[1].Type.Off, rec), mark(packed(seen)); got != want {
				t.Errorf("%q: got %q, want %q", seen, got, want)
			}
			if got, want := recordString(fields[2].Type.Off, rec), mark(spaced(seen)); got != want {
				t.Errorf("%q joined: got %q, want %q", seen, got, want)
			}
		}
		runtime.KeepAlive(mem)
	}
}

// lastPointer is the address of a list whose second pointer cannot be read.
func lastPointer(t *testing.T) uint64 {
	t.Helper()
	size := unix.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 2*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	last := (*uintptr)(unsafe.Pointer(&mem[size-8]))
	*last = uintptr(unsafe.Pointer(&mem[0]))
	if err := unix.Mprotect(mem[size:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return uint64(uintptr(unsafe.Pointer(last)))
}

// TestBytes keeps bytes and lists as keys and values: with their length, for
// they may end in NULs.
func TestBytes(t *testing.T) {
	mem := &tree.Expr{
		Op: tree.OpMem, Type: types.Type{Kind: types.Bytes, Cap: 5, MayFault: true}, Int: 1, Str: tree.User,
		Args: []*tree.Expr{arg(1, types.U64)},
	}
	list := stringList(arg(0, types.U64))
	key := types.TupleOf(mem.Type, list.Type)
	found := &tree.Expr{Op: tree.OpTableGet, Type: list.Type.OrNone(), Args: []*tree.Expr{mem}}
	u := &tree.Unit{
		Containers: []*tree.Container{container(plan.Count, key, types.Type{}),
			container(plan.Table, mem.Type, list.Type)},
		Records: []*wire.Record{layout.Record(0, 0, []string{"mem", "list"}, []types.Type{mem.Type, found.Type})},
	}
	u.Containers[1].ID, found.Int = 1, 1
	u.Programs = []*tree.Program{program(nil,
		stmt(tree.SAggAdd, 0, konst(1), konst(1), op(tree.OpTuple, key, mem, list)),
		stmt(tree.STableSet, 1, mem, list), stmt(tree.SSend, 0, mem, found))}
	c, _ := load(t, u, Options{})
	r := newRing(t, c.Maps[MapRing])
	data := []byte("xab\x00\x00\x00after")
	words := newUserList([]string{"a", "", ""})
	for range 3 {
		run(t, c, words.addr(), uint64(uintptr(unsafe.Pointer(&data[0]))))
	}
	runtime.KeepAlive(words)
	for range 3 {
		rec := r.next(t)
		if got := []string{recordString(16, rec), recordString(20, rec)}; fmt.Sprintf("%q", got) != fmt.Sprintf("%q",
			[]string{"ab\x00\x00\x00", "\x01a\x00\x01\x00\x01\x00"}) {
			t.Errorf("sent %q", got)
		}
	}
	want := make([]byte, u.Containers[0].KeyLayout.Size)
	for i, s := range []string{"ab\x00\x00\x00", "\x01a\x00\x01\x00\x01\x00"} {
		w := u.Containers[0].KeyLayout.Type.Elems[i]
		copy(want[w.Off:], s)
		want[w.Off+w.Size-wire.BytesTail] = byte(len(s))
	}
	if v, err := c.Maps["c0"].LookupBytes(want); err != nil || v == nil || word(v, 0) != 3 {
		t.Errorf("count of the key %q: %v %v, want 3", want, v, err)
	}
	run(t, c, 8, 8)
	if rec := r.next(t); recordString(16, rec) != "<fault>" || recordString(20, rec) != "<fault>" {
		t.Errorf("sent %q and %q of addresses that cannot be read", recordString(16, rec), recordString(20, rec))
	}
}
