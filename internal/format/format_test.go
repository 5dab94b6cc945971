package format

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/escape"
)

// TestAppend compares what verbs give with what C and Go print.
//
// > As in C %hx and %hhx show the low 16 and 8 bits of an int. l, ll, z and j change nothing, for ints have all their
// > bits.
func TestAppend(t *testing.T) {
	two70 := new(big.Int).Lsh(big.NewInt(1), 70)
	i, s, f := IntArg, StrArg, FloatArg
	tests := []struct {
		format string
		args   []Arg
		want   string
	}{
		{"plain 100%%\n", nil, "plain 100%\n"},
		{"%-16s %-7d %d\n", []Arg{s("bash"), i(41), i(-2)}, "bash             41      -2\n"},
		{"%6d|%-6d|%06d|%+d|% d", []Arg{i(-42), i(42), i(-42), i(7), i(7)}, "   -42|42    |-00042|+7| 7"},
		{"%.3d|%6.3d|%-6.3d|", []Arg{i(7), i(-7), i(7)}, "007|  -007|007   |"},
		{"%hhx %hhd %hx %hd %hhu %ho %hhx", []Arg{i(300), i(200), i(-1), i(40000), i(-1), i(65537), i(-256)},
			"2c -56 ffff -25536 255 1 0"},
		{"%lx %llx %zx %jx", []Arg{i(1 << 40), i(1 << 40), i(1 << 40), i(1 << 40)},
			"10000000000 10000000000 10000000000 10000000000"},
		{"%i %u %lu %lld %hhd", []Arg{i(1), i(-1), i(2), i(3), i(4)}, "1 18446744073709551615 2 3 4"},
		{"%x %X %#x %#X %08x %#08x", []Arg{i(255), i(255), i(255), i(255), i(255), i(255)},
			"ff FF 0xff 0XFF 000000ff 0x0000ff"},
		{"%o %#o %#o %b %#b", []Arg{i(0644), i(0644), i(0), i(5), i(5)}, "644 0644 0 101 0b101"},
		{"%x %p", []Arg{i(-1), {Kind: Uint, Uint: math.MaxUint64}}, "ffffffffffffffff 0xffffffffffffffff"},
		{"%d %d", []Arg{i(math.MinInt64), {Kind: Uint, Uint: math.MaxUint64}},
			"-9223372036854775808 18446744073709551615"},
		{"%d %x %v", []Arg{{Kind: Big, Big: two70}, {Kind: Big, Big: two70}, {Kind: Big, Big: new(big.Int).Neg(two70)}},
			"1180591620717411303424 400000000000000000 -1180591620717411303424"},
		{"%.3s|%5s|%-5s|%.0s|", []Arg{s("häuser"), s("é"), s("é"), s("x")}, "häu|    é|é    ||"},
		{"%s %s %s %v", []Arg{i(1), {Kind: Bool, Int: 1}, f(2), {Kind: Other, Str: "[1, 2]", Type: "list"}},
			"1 True 2.0 [1, 2]"},
		{"%q %r %r %-6q|", []Arg{s("a\"b\n"), s("x"), i(3), s("y")}, `"a\"b\n" "x" 3 "y"   |`},
		{"%c%c%c", []Arg{i('A'), s("é"), i(0x1F600)}, "Aé😀"},
		{"%f %5.2f|%-8.1f|%08.3f|%+.1f", []Arg{f(1.5), f(3.14159), f(2.25), f(-1.5), i(2)},
			"1.500000  3.14|2.2     |-001.500|+2.0"},
		{"%#g %#g %#.3g %#.0g %#G %#g", []Arg{f(2.5), f(0), f(100), f(2), f(1e-7), f(1e6)},
			"2.50000 0.00000 100. 2. 1.00000E-07 1.00000e+06"},
		{"%#.0f|%#.0e|%#8.0f|%+#g", []Arg{f(3), f(3), f(-3), f(1)}, "3.|3.e+00|     -3.|+1.00000"},
		{"%e %.2E %g %g %g %G", []Arg{f(1234.5), f(1234.5), f(0.1 + 0.2), f(1e6), f(100000), f(1e-7)},
			"1.234500e+03 1.23E+03 0.3 1e+06 100000 1E-07"},
		{"%f %08f %5.1f", []Arg{f(math.NaN()), f(math.Inf(-1)), f(math.Inf(1))}, "nan     -inf   inf"},
		{"%E %G %+F|%5G|%e", []Arg{f(math.Inf(-1)), f(math.NaN()), f(math.Inf(1)), f(math.Inf(1)), f(math.Inf(1))},
			"-INF NAN +INF|  INF|inf"},
		{"%+u % u %+d % d %+5u|%+x", []Arg{i(3), i(3), i(3), i(3), i(3), i(3)}, "3 3 +3  3     3|3"},
		{"%d %d", []Arg{{Kind: Bool, Int: 1}, f(-2.9)}, "1 -2"},
		{"%d|%5x|%-8s|%f", []Arg{{}, {}, {Kind: Fault}, {Kind: Fault}}, "None| None|<fault> |<fault>"},
		{"%*d|%-*d|%*d|%.*f", []Arg{i(5), i(1), i(3), i(2), i(-4), i(3), i(2), f(1.005)}, "    1|2  |3   |1.00"},
		{"%x % X %.2x", []Arg{s("hi"), {Kind: Bytes, Str: "\x01\xfe"}, s("abc")}, "6869 01 FE 6162"},
		{"%t %5t", []Arg{{Kind: Bool}, {Kind: Bool, Int: 1}}, "False  True"},
	}
	for _, tt := range tests {
		f, err := Parse(tt.format)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.format, err)
			continue
		}
		got, err := f.Append([]byte("> "), tt.args)
		if err != nil || string(got) != "> "+tt.want {
			t.Errorf("%q:\n got %q, %v\nwant %q", tt.format, got, err, "> "+tt.want)
		}
	}
}

// TestLikeGo compares with fmt where the two agree by definition.
func TestLikeGo(t *testing.T) {
	for _, flags := range []string{"", "-", "0", "+", "+0", "#", "-#", " "} {
		for _, size := range []string{"", "1", "12", ".3", "12.5"} {
			for _, v := range []int64{0, 1, -1, 255, -123456, math.MaxInt64} {
				verbs := "d"
				if v > 0 && !strings.ContainsAny(flags, "+ ") {
					verbs = "dxXob"
				}
				for _, verb := range verbs {
					if verb == 'o' && flags == "0" || size == ".3" && v == 0 {
						continue
					}
					spec := "%" + flags + size + string(verb)
					compare(t, spec, IntArg(v), fmt.Sprintf(spec, v))
				}
			}
			for _, v := range []float64{0, 1.25, -1.25, 1e20, 1e-20} {
				if strings.Contains(flags, "#") {
					continue
				}
				for _, verb := range "fe" {
					spec := "%" + flags + size + string(verb)
					compare(t, spec, FloatArg(v), fmt.Sprintf(spec, v))
				}
			}
		}
	}
}

func compare(t *testing.T, spec string, a Arg, want string) {
	t.Helper()
	f, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Append(nil, []Arg{a})
	if err != nil || string(got) != want {
		t.Errorf("%s of %s: got %q, %v, want %q", spec, a.describe(), got, err, want)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		format string
		args   []Arg
		want   string
	}{
		{"%d", []Arg{StrArg("x")}, `%d wants a number, got string "x"`},
		{"a %-5.2f", []Arg{StrArg("x\x1b")}, `%-5.2f wants a number, got string "x\x1b"`},
		{"%q", []Arg{IntArg(3)}, `%q wants a string, got int 3`},
		{"%c", []Arg{StrArg("ab")}, `%c wants a character or its number, got string "ab"`},
		{"%x", []Arg{{Kind: Other, Type: "list", Str: "[1]"}}, `%x wants a number, got list [1]`},
		{"%*d", []Arg{StrArg("x"), IntArg(1)}, `%*d wants an int as its width, got string "x"`},
		{"%*d", []Arg{IntArg(1 << 40), IntArg(1)}, `%*d: a width of 1099511627776 is beyond 10000`},
		{"%d %d", []Arg{IntArg(1)}, `format wants 2 arguments, got 1`},
		{"%d", nil, `format wants 1 argument, got 0`},
		{"%d", []Arg{FloatArg(math.NaN())}, `%d wants a finite number, got float nan`},
		{"%t", []Arg{IntArg(1)}, `%t wants a bool, got int 1`},
	}
	for _, tt := range tests {
		f, err := Parse(tt.format)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Append([]byte("kept"), tt.args)
		if err == nil || err.Error() != tt.want || string(got) != "kept" {
			t.Errorf("%s: got %q, %v\nwant %v", tt.format, got, err, tt.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for format, want := range map[string]string{
		"é %y":     "format, column 3: unknown verb %y (known are d i u x X o b c s q r v t f e g p)",
		"50%":      "format, column 3: the format ends inside % (write %% for a percent sign)",
		"%-5":      "format, column 1: the format ends inside %-5 (write %% for a percent sign)",
		"a%n":      `format, column 2: unknown verb %n (write \n for a new line)`,
		"%1$d":     "format, column 1: unknown verb %1$ (arguments are taken in order)",
		"%99999d":  "format, column 2: width is above 10000",
		"%.99999d": "format, column 3: precision is above 10000",
	} {
		if _, err := Parse(format); err == nil || err.Error() != want {
			t.Errorf("Parse(%q):\n got %v\nwant %v", format, err, want)
		}
	}
}

func TestEscape(t *testing.T) {
	in := "a\tb\n\x1b[31m\x7f\xff\u009b\u202eé"
	for how, want := range map[escape.How]string{
		escape.Raw:     in,
		escape.Screen:  "a\tb\n" + `\x1b[31m\x7f\xff\u009b\u202eé`,
		escape.OneLine: `a\tb\n\x1b[31m\x7f\xff\u009b\u202eé`,
	} {
		f, _ := Parse("%s|%v")
		f.Escape = how
		got, err := f.Append(nil, []Arg{StrArg(in), {Kind: Bytes, Str: in}})
		if err != nil || string(got) != want+"|"+want {
			t.Errorf("escape %d: got %q, %v", how, got, err)
		}
	}
	f, _ := Parse("%c%c")
	f.Escape = escape.OneLine
	if got, _ := f.Append(nil, []Arg{IntArg(27), IntArg('\n')}); string(got) != `\x1b\n` {
		t.Errorf("%%c escapes to %q", got)
	}
}

func TestNoAllocation(t *testing.T) {
	f, _ := Parse("%-16s %-7d %08x %5.2f %*d %c %v\n")
	f.Escape = escape.Screen
	args := []Arg{StrArg("systemd-journal"), IntArg(4711), IntArg(255), FloatArg(2.5), IntArg(9), IntArg(3),
		IntArg('x'), {}}
	buf := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() { buf, _ = f.Append(buf[:0], args) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFormat(f *testing.F) {
	for _, s := range []string{"%-16s %-7d %d\n", "%*.*f", "%#08x", "%", "%%", "%.3s%c%q", "%é"} {
		f.Add(s, "str\x1b", int64(-5), 1.5)
	}
	f.Fuzz(func(t *testing.T, s, str string, i int64, fl float64) {
		format, err := Parse(s)
		if err != nil {
			return
		}
		kinds := []Arg{IntArg(i), StrArg(str), FloatArg(fl), {}, {Kind: Uint, Uint: uint64(i)}, {Kind: Bool, Int: 1}}
		for shift := range kinds {
			args := make([]Arg, format.Wanted())
			for n := range args {
				args[n] = kinds[(n+shift)%len(kinds)]
			}
			format.Escape = escape.How(shift % 3)
			out, err := format.Append([]byte("kept"), args)
			if !strings.HasPrefix(string(out), "kept") || err != nil && len(out) != 4 {
				t.Fatalf("%q: %q, %v", s, out, err)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	f, _ := Parse("%-16s %-7d %d\n")
	args := []Arg{StrArg("bash"), IntArg(41350), IntArg(123456)}
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = f.Append(buf[:0], args)
	}
}

func BenchmarkAppendEscaped(b *testing.B) {
	f, _ := Parse("%-16s %-7d %-12s %s\n")
	f.Escape = escape.Screen
	args := []Arg{StrArg("bash"), IntArg(41350), StrArg("ENOENT"),
		StrArg("/usr/share/locale/de/LC_MESSAGES/coreutils.mo")}
	buf := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		buf, _ = f.Append(buf[:0], args)
	}
}

// TestCheck: what is said of kinds is what Append says of values.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		format string
		kinds  []ArgKind
		want   string
	}{
		{"%d %s\n", []ArgKind{Int}, "format wants 2 arguments, got 1"},
		{"%d", []ArgKind{Int, Int}, "format wants 1 argument, got 2"},
		{"%5d", []ArgKind{Str}, "%5d wants a number, got string"},
		{"%q", []ArgKind{Int}, "%q wants a string, got int"},
		{"%t", []ArgKind{Int}, "%t wants a bool, got int"},
		{"%.2f", []ArgKind{Other}, "%.2f wants a number, got a value of several parts"},
		{"%*d", []ArgKind{Str, Int}, "%*d wants an int as its width, got string"},
		{"%-*.*s %x %c %f", []ArgKind{Unknown, Unknown, Int, Str, Str, Bool}, ""},
		{"%d %t %q", []ArgKind{Unknown, Unknown, None}, ""},
	} {
		f, err := Parse(c.format)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := f.Check(c.kinds); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q %v: %q, want %q", c.format, c.kinds, got, c.want)
		}
	}
}

// A precision counts characters of the value, and whatever it is, the outcome begins as the whole does and ends with a
// whole character or escape sequence.
func TestPrecisionSplitsNothing(t *testing.T) {
	for _, c := range []struct {
		verb  string
		arg   Arg
		parts []string // what the characters are shown as
	}{
		{"s", StrArg("é\x01\xff漢"), []string{"é", `\x01`, `\xff`, "漢"}},
		{"v", StrArg("a\u202eb\\x"), []string{"a", `\u202e`, "b", `\`, "x"}},
		{"s", Arg{Kind: Str, Str: "q\n\tz\\n", Shown: `q\n\tz\n`}, []string{"q", `\n`, `\t`, "z", `\`, "n"}},
		{"s", Arg{Kind: Str, Str: "a\n", Marked: "a\n…", Shown: `a\n…`}, []string{"a", `\n`, "…"}},
		{"s", Arg{Kind: Bytes, Str: "\x01b\xc3"}, []string{`\x01`, "b", `\xc3`}},
		{"s", Arg{Kind: Other, Str: `["\x01\u00e9\n\\\"é"]`},
			[]string{"[", `"`, `\x01`, `\u00e9`, `\n`, `\\`, `\"`, "é", `"`, "]"}},
	} {
		for n := range len(c.parts) + 2 {
			f, err := Parse(fmt.Sprintf("%%.%d%s", n, c.verb))
			if err != nil {
				t.Fatal(err)
			}
			f.Escape = escape.OneLine
			got, err := f.Append(nil, []Arg{c.arg})
			if want := strings.Join(c.parts[:min(n, len(c.parts))], ""); err != nil || string(got) != want {
				t.Errorf("%%.%d%s of %q: got %q, %v, want %q", n, c.verb, c.arg.Str, got, err, want)
			}
		}
	}
}
