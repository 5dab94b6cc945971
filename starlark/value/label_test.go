package value

import (
	"fmt"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/wire"
)

func TestStringList(t *testing.T) {
	d := &Decoder{}
	list := leaf(wire.Bytes, 24, 4)
	list.Label = strList
	for _, tt := range []struct {
		flags      uint16
		text, want string
	}{
		{0, "\x01ls\x00\x01-l\x00", `("ls", "-l")`},
		{0, "", `()`},
		{0, "\x01sh\x00\x01\x00\x01-c\x00\x01\x00", `("sh", "", "-c", "")`},
		{wire.RefCut, "\x01ls\x00\x01-", `("ls", "-…")`},
		{wire.RefCut, "\x01ls\x00", `("ls", …)`},
		{wire.RefCut, "", `(…,)`},
		{0, "\x01ls\x00\x02\x00\x02\x00\x01\x02\x00", `("ls", <fault>, <fault>, "\x02")`},
		{wire.RefCut, "\x01ls\x00\x02\x00", `("ls", <fault>, …)`},
		{wire.RefCut, "\x01ls\x00\x01", `("ls", …)`},
		{wire.RefFault, "", `<fault>`},
		{wire.RefNone, "", `None`},
	} {
		v, err := d.decodeRef(&list, record16(tt.flags, tt.text))
		if err != nil || quoted(v) != tt.want {
			t.Errorf("%q: %v, %v; want %s", tt.text, v, err, tt.want)
		}
	}
}

func TestStringListFixed(t *testing.T) {
	d := &Decoder{}
	list := leaf(wire.Bytes, 0, 16)
	list.Label = strList
	for _, tt := range []struct {
		bytes string
		state byte
		want  string
	}{
		{"\x01ls\x00\x01-l\x00", 0, `("ls", "-l")`},
		{"\x01ls\x00\x01\x00", 0, `("ls", "")`},
		{"", 0, `()`},
		{"\x01ls\x00\x01-lah-la", wire.StrCut, `("ls", "-lah-la…")`},
		{"\x01ls\x00\x01-la\x00", wire.StrCut, `("ls", "-la", …)`},
		{"", wire.StrFault, `<fault>`},
	} {
		b := make([]byte, 16)
		copy(b, tt.bytes)
		order.PutUint16(b[12:], uint16(len(tt.bytes)))
		b[15] = tt.state
		if v := d.Decode(&list, b); quoted(v) != tt.want {
			t.Errorf("%q: %v, want %s", tt.bytes, v, tt.want)
		}
	}
}

// Labels with an argument make their function once.
func TestLabelArgument(t *testing.T) {
	made := 0
	d := &Decoder{Labels: Labels{
		With: map[string]func(string) LabelFunc{"names": func(arg string) LabelFunc {
			made++
			return func(v uint64) string { return fmt.Sprint(arg, int64(v)) }
		}},
		Bytes: map[string]BytesLabelFunc{"mac": func(b []byte, _ bool) starlark.Value {
			return starlark.String(fmt.Sprintf("% x", b))
		}},
	}}
	typ := signed(0, 4, -1)
	typ.Label = "names:X_"
	for _, n := range []uint32{1, 2, 1, 0xffffffff} {
		buf := make([]byte, 8)
		order.PutUint32(buf, n)
		if got, want := d.Decode(&typ, buf), starlark.String(fmt.Sprint("X_", int32(n))); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if made != 1 {
		t.Errorf("the function was made %d times", made)
	}
	typ.Label = "unknown:X_"
	if got := d.Decode(&typ, make([]byte, 8)).String(); got != "0" {
		t.Errorf("without a function for the label: %s", got)
	}
	raw := leaf(wire.Bytes, 0, 8)
	raw.Label = "mac"
	if got := d.Decode(&raw, []byte{1, 2, 0xff, 0, 3, 0, 0, 0}).String(); got != `"01 02 ff"` {
		t.Errorf("bytes with a label: %s", got)
	}
}

// Bytes with the label of an array are a tuple of its numbers; a mark says that there were more.
func TestIntArrays(t *testing.T) {
	for _, c := range []struct {
		label string
		bytes string
		cut   bool
		want  string
	}{
		{"ints:s4", "\x0b\x00\x00\x00\xea\xff\xff\xff", false, "(11, -22)"},
		{"ints:u8", "\xff\xff\xff\xff\xff\xff\xff\xff", true, `(18446744073709551615, …)`},
		{"ints:u1", "\x00\xff", false, "(0, 255)"},
		{"ints:s2", "", false, "()"},
		{"ints:s2", "\x01", false, "()"}, // no whole element
	} {
		got := (&Decoder{}).bytesValue(&wire.Type{Kind: wire.Bytes, Label: c.label}, []byte(c.bytes), c.cut)
		if Text(got) != c.want {
			t.Errorf("%s of %q: %s, want %s", c.label, c.bytes, got, c.want)
		}
	}
}

// Each tag of what is not there is read as it was written, also where it is a kind of FAULT.
func TestTagsOfAbsence(t *testing.T) {
	where := leaf(wire.Int, 0, 8)
	where.TagOff, where.MayNone, where.MayFault = 8, true, true
	for _, v := range []starlark.Value{starlark.None, FAULT, Unreadable, Lost, Unshown} {
		buf := make([]byte, 9)
		if err := Encode(&where, v, buf); err != nil {
			t.Fatal(err)
		}
		if got := (&Decoder{}).Decode(&where, buf); got != v {
			t.Errorf("%s became %s", v, got)
		}
	}
}
