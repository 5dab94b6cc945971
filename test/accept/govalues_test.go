package accept

import (
	"slices"
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// valuesOfGo hands over values of Go, and says of each call what they are: lines of P are those of all parts, lines of
// T how a duration and a time are written.
const valuesOfGo = `package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"
)

type base struct { Name string; id int }
type deep struct { Level int }
type mid struct { *deep; Tag string }
type other struct { Tag string }
type all struct { base; *mid; io.Reader; errs []error; by map[int]bool }
type twice struct { mid; other; hidden }
type hidden struct { base }
type own struct{ code int }
type ints []int32
type of[T any] []T
type lists struct { list ints; text []byte; addr net.IP; of of[int16] }

func (o *own) Error() string { return fmt.Sprint("own ", o.code) }

var last error
var keep int

//go:noinline
func look(n int, m map[string]int, c chan int, err error, a any, d time.Duration, t time.Time, s *all, by all) int {
	last = err
	keep = n
	return n
}

//go:noinline
func gives(n int) (map[string]int, error, time.Duration) {
	if n == 0 {
		return nil, nil, 0
	}
	return map[string]int{"a": 1, "b": 2}, errors.New("given"), time.Hour
}

//go:noinline
func named(list ints, text net.IP, of of[uint16], inner *lists) int { return len(list) + len(text) + len(of) + keep }

//go:noinline
func ambiguous(x *twice) { keep = x.id }

func orNone(s string, ok bool) string {
	if !ok {
		return "None"
	}
	return s
}

func main() {
	_, missing := os.Open("/nonexistent")
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	texts := []string{"", "failed", "wrap: failed", "open", "", "dial", "", "",
		"twofile already closedfile already exists",
		"w: open /nonexistent: no such file or directory",
		"c: dial tcp: connect: connection refused", "5: c: dial tcp: connect: connection refused"}
	for n, err := range []error{nil, errors.New("failed"), fmt.Errorf("wrap: %w", errors.New("failed")), missing,
		syscall.EPERM, refused, &own{3}, errors.Join(missing), fmt.Errorf("two%w%w", fs.ErrClosed, fs.ErrExist),
		fmt.Errorf("w: %w", missing), fmt.Errorf("c: %w", refused),
		fmt.Errorf("5: %w", fmt.Errorf("c: %w", refused))} {
		var m map[string]int
		var c chan int
		for i := range n * 7 {
			if i == 0 {
				m, c = map[string]int{}, make(chan int, 100)
			}
			m[fmt.Sprint(i)] = i
			c <- i
		}
		path, errno := "None", "None"
		if p, ok := err.(*fs.PathError); ok {
			path = p.Path
		} else if o, ok := err.(*net.OpError); ok {
			path = o.Net
		}
		var number syscall.Errno
		if n != 7 && errors.As(err, &number) {
			errno = fmt.Sprint(int(number))
		}
		d := time.Duration(n*n) * 1500 * time.Microsecond
		t := []time.Time{time.Now(), time.Unix(1, 5), time.Date(1969, 1, 1, 1, 2, 3, 4, time.UTC),
			time.Now().Round(0)}[n%4]
		s := all{base{"name", n}, &mid{&deep{n + 7}, "tag"}, nil, []error{nil, err}, nil}
		fmt.Println("P", n, len(m), len(c), cap(c), orNone(fmt.Sprintf("%T", err), err != nil),
			orNone(texts[n], texts[n] != ""), path, errno, int64(d), t.UnixNano(), s.Name, s.Level, s.Tag)
		fmt.Println("T", d, t.UTC().Format(time.RFC3339Nano))
		look(n, m, c, err, n, d, t, &s, s)
		gives(n)
		ambiguous(&twice{})
	}
	named(ints{1, -2}, net.IP{9, 8, 7}, of[uint16]{65535}, &lists{
		ints{-5}, []byte("ab"), net.IP{1, 2, 3, 4}, of[int16]{-1},
	})
	look(-1, nil, nil, nil, nil, 0, time.Time{}, &all{}, all{})
	look(-1, nil, nil, nil, nil, 0, time.Unix(1<<40, 0), &all{}, all{})
}
`

// Both halves see what the program says of its maps, channels, errors, times and embedded structs.
//
// > `len` of a map or a channel of Go is how many elements it has, 0 where it is nil.
// > Of a channel `.cap` is the capacity.
// > `e.args.err.type` is the name of the type that an interface holds, as `%T` prints it in the program.
// > `.text` is the message of an error of `errors.New` and `fmt.Errorf`, and of an `fs.PathError`, `os.SyscallError`,
// > `os.LinkError`, `net.OpError` and `url.Error` what it was about to do, as `open`.
// > `.path` is the path of these, or the network, and `.errno` the number of the `syscall.Errno` in the error or in
// > one that it wraps, among the first five, itself included.
// > Those of an error that wraps several, as of `errors.Join`, are not looked at.
// > What an error does not have is None, and so is the text of other types, which only their own code can make.
// > A `time.Duration` is a number of ns, and a `time.Time` the ns since 1970.
// > Directly in `print`, `str`, `%s` and `%v` they are written as Go writes them, `1.5s` and `2026-11-29T06:00:00Z`
// > (in UTC); elsewhere they are the numbers.
// > A field of an embedded struct has its own name, too, as in Go: `e.args.order.Name`.
func TestValuesOfGo(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	text := strings.NewReplacer("PARTS", "len(e.args.m), len(e.args.c), e.args.c.cap, e.args.err.type, "+
		"e.args.err.text, e.args.err.path, e.args.err.errno, e.args.d, e.args.t").Replace(`
firsts, seconds, found = table(), table(), count()
def user(e):
    if e.args.n >= 0:
        parts, s = (PARTS), (e.args.s.Name, e.args.s.Level, e.args.by.Tag)
        print("U", e.args.n, *(parts + s))
def keep(e):
    if e.args.n >= 0:
        firsts[e.args.n] = (PARTS)
        seconds[e.args.n] = (e.args.by.Name, e.args.by.Level, e.args.s.Tag)
def end():
    for n, parts in firsts.items():
        print("K", n, *(parts + seconds[n]))
    print("found", sorted([k for k, _ in found.items()]))
probe("uprobe:BIN:main.look", user)
probe("uprobe:BIN:main.look", kernel = keep)
probe("uprobe:BIN:main.look", lambda e: print("V", e.args.d, e.args.t), where = lambda e: e.args.n >= 0)
probe("uprobe:BIN:main.look", lambda e: found[e.args.n].add(),
      where = lambda e: e.args.err.type == "*fs.PathError" or e.args.err.errno == 1 or len(e.args.m) == 7)
at_exit(end)
`)
	for _, command := range []string{"go build", "go build -gcflags=-N", "go build -buildmode=pie"} {
		binary := need.Built(t, command, "values.go", valuesOfGo)
		e := startrace(t, "-q", script(t, strings.ReplaceAll(text, "BIN", binary)), "-c", binary).ok(t)
		said := byFirstWord(e.stdout)
		for _, list := range said {
			slices.Sort(list)
		}
		if len(said["P"]) != 12 || len(said["T"]) != 12 {
			t.Fatalf("%s: the program says %v", command, said)
		}
		for of, is := range map[string]string{"U": "P", "K": "P", "V": "T"} {
			equalLines(t, said[of], said[is])
		}
		equalLines(t, said["found"], []string{"[1, 3, 4]"})
	}
}

// Values of Go as a whole, and what is None, FAULT and refused.
//
// > As a value a map, a channel and an interface is a record that says what it is, `record(map = "map[string]int",
// > len = 2)`, and None where it is nil.
// > They are compared with None; the comparison with a number is a mistake.
// > What is in a map or a channel is not read.
// > Of an error the record has `type`, `text`, `path` and `errno`, and of another interface the type.
// > The zero time is None, and one that ns of 64 bits do not reach is FAULT.
// > A name that two embedded structs have at one depth is a mistake.
// > `cast("./shop:*main.T", e.args.v.data)` has the fields of what the interface holds.
func TestWholeValuesOfGo(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "go build", "values.go", valuesOfGo)
	run := func(text string) ended {
		text = "n = count()\n" + strings.ReplaceAll(text, "BIN", binary)
		return startrace(t, "-q", "--str-max", "100", script(t, text), "-c", "sh -c '"+binary+" > /dev/null'")
	}
	for text, want := range map[string]string{
		`probe("uprobe:BIN:main.look", lambda e: print(e.args.m, e.args.c, e.args.err, e.args.a),
      where = lambda e: e.args.n == 5)`: `record(map = "map[string]int", len = 35) ` +
			`record(chan = "chan int", len = 35, cap = 100) ` +
			`record(type = "*net.OpError", text = "dial", path = "tcp", errno = 111) record(type = "int")`,
		`probe("uprobe:BIN:main.look", lambda e: print(e.args.m, e.args.c, e.args.err, e.args.m == None),
      where = lambda e: e.args.n == 0 and e.args.m == None)`: "None None None True",
		`probe("ufunc:BIN:main.gives", lambda e: print(e.ret[0], e.ret[1], e.ret[2], e.ret[1] != None),
      where = lambda e: e.args.n < 2)`: "None None 0s False\n" + `record(map = "map[string]int", len = 2) ` +
			`record(type = "*errors.errorString", text = "given", path = None, errno = None) 1h0m0s True`,
		`probe("uprobe:BIN:main.look", lambda e: print(e.args.t == None, e.args.t == FAULT),
      where = lambda e: e.args.n < 0)`: "True False\nFalse True",
		`probe("ufunc:BIN:main.look", lambda e: print(e.globals.last.text, e.start.args.s.errs[1].type,
      len(e.start.args.m), e.start.args.s.by), where = lambda e: e.args.n == 1)`: "failed *errors.errorString 7 None",
		`probe("uprobe:BIN:main.look", lambda e: print(cast("BIN:*main.own", e.args.err.data).code),
      where = lambda e: e.args.err.type == "*main.own")`: "3",
		`probe("uprobe:BIN:main.look", lambda e: n[e.args.err].add(), where = lambda e: e.args.n in (0, 1))
at_exit(lambda: print([k and k.text for k, _ in sorted(n.items(), key = str)]))`: `[None, "failed"]`,
	} {
		if e := run(text).ok(t); !strings.HasPrefix(e.stdout, want+"\n") {
			t.Errorf("%s\ngot  %s\nwant %s", text, e.stdout, want)
		}
	}
	for _, refused := range [][2]string{
		{`probe("ufunc:BIN:main.gives", lambda e: print(e.ret[1] == 0))`,
			"compare it with None"},
		{`probe("ufunc:BIN:main.gives", lambda e: n.add(), where = lambda e: e.ret[1] == 0)`,
			"compare it with None"},
		{`probe("uprobe:BIN:main.look", lambda e: print([k for k in e.args.m]))`,
			"what is in it is not read"},
		{`probe("uprobe:BIN:main.look", lambda e: n[e.args.m["a"]].add())`,
			"what is in it is not read"},
		{`probe("uprobe:BIN:main.ambiguous", lambda e: print(e.args.x.Tag))`,
			"write mid.Tag or other.Tag"},
		{`probe("uprobe:BIN:main.look", lambda e: print(e.args.s.Nothing))`,
			"struct main.all has no field Nothing"},
	} {
		text, want := refused[0], refused[1]
		if e := run(text); !strings.Contains(e.stderr, want) {
			t.Errorf("%s\ngot  %s%s\nwant %s", text, e.stdout, e.stderr, want)
		}
	}
}

// A slice of Go is a list by whatever name its type has.
//
// > That holds for a slice of a named type of Go, too, as `net.IP`.
func TestNamedSlicesOfGo(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	binary := need.Built(t, "go build", "values.go", valuesOfGo)
	e := startrace(t, "-q", script(t, strings.ReplaceAll(`
n = count()
def keep(e):
    n[e.args.list[1], e.args.text[2], e.args.of[0], e.args.inner.addr[3], len(e.args.inner.list), e.args.inner.of[0],
      e.args.list[2]].add()
probe("uprobe:BIN:main.named", lambda e: print(e.args.list, e.args.text, len(e.args.of), e.args.of, e.args.inner.list,
      e.args.inner.text, e.args.inner.addr, e.args.inner.of, e.args.list[2]))
probe("uprobe:BIN:main.named", kernel = keep)
at_exit(lambda: print(n.items()))
`, "BIN", binary)), "-c", "sh -c '"+binary+" > /dev/null'").ok(t)
	want := "(1, -2) (9, 8, 7) 1 (65535,) (-5,) (97, 98) (1, 2, 3, 4) (-1,) <fault>\n" +
		"[((-2, 7, 65535, 4, 1, -1, <fault>), 1)]\n"
	if e.stdout != want {
		t.Errorf("got  %s\nwant %s", e.stdout, want)
	}
}
