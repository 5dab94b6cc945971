package builtins

import (
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/internal/kernel"
)

func TestLabels(t *testing.T) {
	neg := func(i int64) uint64 { return uint64(i) }
	for _, tt := range []struct{ got, want string }{
		{ErrnoName(neg(-2)), "ENOENT"}, {ErrnoName(2), ""}, {ErrnoName(0), ""}, {ErrnoName(neg(-512)), "ERESTARTSYS"},
		{ErrnoName(neg(-4000)), ""}, {ErrnoName(neg(-5000)), ""},
		{ErrnoName(1 << 40), ""}, {ErrnoName(1 << 63), ""},
		{SignalName(9), "SIGKILL"}, {SignalName(34), "SIGRTMIN"}, {SignalName(64), "SIGRTMIN+30"}, {SignalName(0), "0"},
		{SignalName(99), "99"}, {SignalName(neg(-1)), "-1"}, {SignalName(1<<32 - 1), "0xffffffff"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
}

// labelEnv evaluates calls of labels.
func labelEnv(t *testing.T) (*Env, func(expr string) string) {
	e := New(nil)
	e.Enum = func(name string) []kernel.EnumValue {
		if name == "pid_type" || strings.HasPrefix("PIDTYPE_PID", name) {
			return []kernel.EnumValue{{Name: "PIDTYPE_PID", Val: 0}, {Name: "PIDTYPE_TGID", Val: 1},
				{Name: "PIDTYPE_PGID", Val: 2},
				{Name: "PIDTYPE_SID", Val: 3}, {Name: "PIDTYPE_MAX", Val: 4}, {Name: "PIDTYPE_X", Val: 7},
				{Name: "PIDTYPE_Y", Val: 5}}
		}
		return nil
	}
	return e, func(expr string) string {
		v, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "test", expr, e.Predeclared())
		if err != nil {
			return "error: " + err.Error()
		}
		s, ok := starlark.AsString(v)
		if !ok {
			t.Errorf("%s gave %s, want a string", expr, v.Type())
		}
		return s
	}
}

func TestNames(t *testing.T) {
	_, eval := labelEnv(t)
	for _, tt := range [][2]string{
		{`names(0x241, "O_")`, "O_WRONLY|O_CREAT|O_TRUNC"},
		{`names(0, "O_")`, "O_RDONLY"},
		{`names(0x80000, "O_")`, "O_RDONLY|O_CLOEXEC"},
		{`names(2 | 0x101000 | 1 << 40, "O_")`, "O_RDWR|O_SYNC|0x10000000000"},
		{`names(2 | 0x1000, "O_")`, "O_RDWR|O_DSYNC"},
		{`names(3, "O_")`, "0x3"}, // the mask is no name
		{`names(2, "AF_")`, "AF_INET"},
		{`names(1, "AF_")`, "AF_UNIX"},
		{`names(200, "AF_")`, "0xc8"}, // no flags: not a sum of families
		{`names(6, "IPPROTO_")`, "IPPROTO_TCP"},
		{`names(0x12, "TCPHDR_")`, "TCPHDR_SYN|TCPHDR_ACK"},
		{`names(0, "TCPHDR_")`, "0"},
		{`names(1 | 0o2000000, "SOCK_")`, "SOCK_STREAM|SOCK_CLOEXEC"},
		{`names(3, "PROT_")`, "PROT_READ|PROT_WRITE"},
		{`names(0x22, "MAP_")`, "MAP_PRIVATE|MAP_ANONYMOUS"},
		{`names(0x100000, "MAP_")`, "MAP_FIXED_NOREPLACE"},
		{`names(-100, "AT_")`, "AT_FDCWD"},
		{`names(-7, "AF_")`, "-7"},
		{`names(0xfffffffffffffff7, "AF_")`, "-9"},
		{`names(-9, "tcp_state")`, "-9"},
		{`names(0xffffffffffffff9c, "AT_")`, "AT_FDCWD"},
		{`names(0xfffffffffffffff8, "TCPHDR_")`,
			"TCPHDR_PSH|TCPHDR_ACK|TCPHDR_URG|TCPHDR_ECE|TCPHDR_CWR|TCPHDR_AE|0xfffffe00"},
		{`names(-8, "MADV_")`, "-8"},
		// the bits of a C int, as of %x
		{`names(-8, "TCPHDR_")`, "TCPHDR_PSH|TCPHDR_ACK|TCPHDR_URG|TCPHDR_ECE|TCPHDR_CWR|TCPHDR_AE|0xfffffe00"},
		{`names(-1 << 31, "O_")`, "O_RDONLY|0x80000000"},
		{`names(-1 << 40, "O_")`, "O_RDONLY|0xffffff0000000000"},
		{`names(0o644, "mode")`, "rw-r--r--"},
		{`names(0o104755, "mode")`, "-rwsr-xr-x"},
		{`names(0o41776, "mode")`, "drwxrwxrwT"},
		{`names(0o100644, "S_")`, "S_IFREG|S_IROTH|S_IRGRP|S_IWUSR|S_IRUSR"},
		{`names(1, "tcp_state")`, "TCP_ESTABLISHED"},
		{`names(14, "tcp_state")`, "0xe"},
		{`names(2, "pid_type")`, "PIDTYPE_PGID"},
		{`names(2, "enum pid_type")`, "PIDTYPE_PGID"},
		{`names(2, "PIDTYPE_")`, "PIDTYPE_PGID"},
		{`names(1, "")`, `error: names: here the family must be given: names(v, "O_")`},
		{`names(1, "no_such")`, `error: names: got "no_such", want an enum of the kernel, the beginning of names of ` +
			`constants ("O_"), "tcp_state" or "mode"`},
		{`names("x", "O_")`, "error: names: for parameter v: got string, want int"},
		{`names(1 << 70, "O_")`, "error: names: 1180591620717411303424 does not fit in 64 bits"},
	} {
		if got := eval(tt[0]); got != tt[1] {
			t.Errorf("%s: %s, want %s", tt[0], got, tt[1])
		}
	}
}

func TestAddresses(t *testing.T) {
	_, eval := labelEnv(t)
	for _, tt := range [][2]string{
		{`inet(0x0100007f)`, "127.0.0.1"}, // as the machine, which is little-endian, reads the network's order
		{`inet(b"\x0a\x00\x00\xff")`, "10.0.0.255"},
		{`inet(b"\x00" * 15 + b"\x01")`, "::1"},
		{`inet([192, 168, 0, 1])`, "192.168.0.1"},
		{`inet((10, 0, 0, 300))`, "error: inet: got 300 in the list, want bytes"},
		{`inet(b"\x00" * 5)`, "error: inet: got 5 bytes, want 4 or 16"},
		{`inet(1 << 32 | 0x0100007f)`, "127.0.0.1"},
		{`inet(-2)`, "254.255.255.255"},
		{`inet("x")`, "error: inet: got string, want bytes"},
		{`mac(b"\x02\x42\xac\x11\x00\x02")`, "02:42:ac:11:00:02"},
		{`mac(b"\x02")`, "error: mac: got 1 byte, want 6"},
		{`usym(4096)`, "error: usym works on parts of an event (e.args…) and in kernel functions; " +
			"here it got a value of user space: call it by its name in a handler, with a part of the event"},
	} {
		if got := eval(tt[0]); got != tt[1] {
			t.Errorf("%s: %s, want %s", tt[0], got, tt[1])
		}
	}
}

// What stands on values of kernel halves, by the same functions.
func TestLabelFunctions(t *testing.T) {
	e, _ := labelEnv(t)
	if got := e.Labels.Ints["syscall_point"](0); got != "syscall:"+kernel.SyscallName(0) {
		t.Errorf("syscall_point: %s", got)
	}
	if got := e.Labels.Ints["inet4"](0x0100007f); got != "127.0.0.1" {
		t.Errorf("inet4: %s", got)
	}
	if got := e.Labels.With["names"]("O_")(0x40); got != "O_RDONLY|O_CREAT" {
		t.Errorf("names:O_: %s", got)
	}
	if got := e.Labels.With["names"]("no_such")(^uint64(1)); got != "-2" {
		t.Errorf("names of no family: %s", got)
	}
	if got := e.Labels.Bytes["inet6"]([]byte(strings.Repeat("\x00", 15)+"\x01"), false); got != starlark.String("::1") {
		t.Errorf("inet6: %s", got)
	}
	if got := e.Labels.Bytes["mac"]([]byte{1, 2, 3, 4, 5, 255}, false); got != starlark.String("01:02:03:04:05:ff") {
		t.Errorf("mac: %s", got)
	}
}

// TestErrnoWithoutName shows the sign of a number that is no error's.
//
// > A number for which a label has no text is shown with the sign of 64 bits: `errno(18446744073709551558)` is -58.
func TestErrnoWithoutName(t *testing.T) {
	e, _ := labelEnv(t)
	for expr, want := range map[string]string{"errno(18446744073709551558)": "-58", "errno(-58)": "-58",
		"errno(5)": "5", "errno(1 << 40)": "1099511627776"} {
		v, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "test", expr, e.Predeclared())
		if err != nil || v.String() != want {
			t.Errorf("%s is %v, %v, want %s", expr, v, err, want)
		}
	}
}

// A label of a number that is wider than what it names has that number: its low half names something else.
func TestLabelsOfWideNumbers(t *testing.T) {
	_, eval := labelEnv(t)
	for _, v := range []uint64{1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 15, 1 << 40, 1 << 63, 1<<63 + 2,
		1<<64 - 1<<31 - 1} {
		for label, want := range map[string]string{"signal": fmt.Sprintf("%#x", v), "syscall_name": "syscall_?"} {
			if got := eval(fmt.Sprintf("%s(%d)", label, v)); got != want {
				t.Errorf("%s(%d) is %q, want %q", label, v, got, want)
			}
		}
		if text := ErrnoName(v); text != "" {
			t.Errorf("errno(%#x) is %s", v, text)
		}
	}
}

// Numbers of a label of which a table has a key each have a text each: keys of one text would be several entries. Of
// names() these are the numbers of 32 bits, with a sign or without.
func TestOneTextEach(t *testing.T) {
	e, _ := labelEnv(t)
	for _, label := range []string{"signal", "syscall_name", "inet"} {
		seen := map[string]uint64{}
		for _, bits := range []int{1, 8, 31, 32, 33, 63} {
			for _, v := range []uint64{1<<bits - 1, 1 << bits, -uint64(1 << bits), -uint64(1<<bits + 1)} {
				if label != "signal" {
					v &= 1<<32 - 1 // what a kernel half keeps of it
				}
				text := e.Labels.Ints[label](v)
				if other, has := seen[text]; has && other != v {
					t.Errorf("%s: %#x and %#x are both %s", label, v, other, text)
				}
				seen[text] = v
			}
		}
	}
}

func TestOneNameEach(t *testing.T) {
	e, _ := labelEnv(t)
	for _, family := range []string{"O_", "AF_", "AT_", "FAN_", "MAP_", "SOCK_", "PROT_", "S_", "tcp_state"} {
		text := e.namesOf(family)
		for _, signed := range []bool{true, false} {
			seen := map[string]uint64{}
			for i := range 1 << 12 {
				v := uint64(uint32(i * 0x9e3779b1))
				if signed {
					v = uint64(int32(v))
				}
				if other, has := seen[text(v)]; has {
					t.Fatalf("%s: %#x and %#x are both %s", family, v, other, text(v))
				}
				seen[text(v)] = v
			}
		}
	}
}

// > A label of None or FAULT is None or FAULT: `errno(FAULT)` is FAULT.
func TestLabelsOfWhatIsNotThere(t *testing.T) {
	e, _ := labelEnv(t)
	for _, call := range []string{"errno(%s)", "signal(%s)", "ksym(%s)", "dev_name(%s)", "syscall_name(%s)",
		"inet(%s)", "mac(%s)", `names(%s, "pid_type")`, "usym(%s)", "usym(%s, 1)"} {
		for what, want := range map[string]string{"FAULT": "<fault>", "None": "None"} {
			got, err := starlark.EvalOptions(&syntax.FileOptions{}, &starlark.Thread{}, "t.star",
				fmt.Sprintf(call, what), e.Predeclared())
			if err != nil || got.String() != want {
				t.Errorf(call+": got %v, %v, want %s", what, got, err, want)
			}
		}
	}
}
