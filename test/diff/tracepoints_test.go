package diff

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A deed is something that this test does to bring about events of the kernel with values of its choice.
type deed struct {
	sites  []Site
	values []Field // of an input
	adjust func(*Input)
	happen func(*Input) error
}

func intField(path string, from, bits int, signed bool) Field {
	return Field{Path: path, From: from, Bits: bits, Signed: signed}
}

func textField(path string, from int, abi string) Field {
	return Field{Path: path, From: from, ABI: abi}
}

// renames gives this thread a new name; an input has the new one, the old one, the number of the thread, and how willing
// the kernel is to kill it.
func renames(t *testing.T) deed {
	tid := unix.Gettid()
	comm := fmt.Sprintf("/proc/self/task/%d/comm", tid)
	old, err := os.ReadFile(comm)
	if err != nil {
		t.Fatal(err)
	}
	score, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		t.Fatal(err)
	}
	willing, err := strconv.Atoi(strings.TrimSpace(string(score)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(comm, old, 0); err != nil {
			t.Error(err)
		}
	})
	last := strings.TrimSuffix(string(old), "\n")
	return deed{
		sites: []Site{
			{Point: "tracepoint:task:task_rename", Fields: []Field{textField("e.args.newcomm", 0, "chars of a record"),
				textField("e.args.oldcomm", 1, "chars of a record"), intField("e.args.oom_score_adj", 3, 16, true)}},
			{Point: "rawtracepoint:task_rename", Fields: []Field{textField("e.args.comm", 0, "a string of the kernel"),
				textField("e.args.task.comm", 1, "chars behind a pointer"), intField("e.args.task.pid", 2, 32, true),
				intField("e.args.task.signal.oom_score_adj", 3, 16, true)}},
		},
		values: []Field{{}},
		adjust: func(in *Input) {
			in.Words[2], in.Words[3] = uint64(tid), uint64(willing)
			in.Texts[0].Fault = false
			in.Texts[0].S = in.Texts[0].S[:min(15, len(in.Texts[0].S))]
		},
		happen: func(in *Input) error {
			in.Texts[1] = Text{S: last}
			last = in.Texts[0].S
			name := append([]byte(in.Texts[0].S), 0)
			return unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
		},
	}
}

// signals sends this process a signal that it does not heed, with an error and a code.
func signals() deed {
	where := fmt.Sprintf("e.args.sig != %d", unix.SIGURG) // which Go sends itself
	return deed{
		sites: []Site{
			{Point: "tracepoint:signal:signal_generate", Where: where, Fields: []Field{intField("e.args.sig", 0, 32, true),
				intField("e.args.errno", 1, 32, true), intField("e.args.code", 2, 32, true)}},
			{Point: "rawtracepoint:signal_generate", Where: where, Fields: []Field{intField("e.args.sig", 0, 32, true),
				intField("e.args.info.si_errno", 1, 32, true), intField("e.args.info.si_code", 2, 32, true)}},
		},
		values: []Field{{Bits: 32}, {Bits: 32}, {Bits: 32}},
		adjust: func(in *Input) {
			in.Words[0] = []uint64{uint64(unix.SIGWINCH), uint64(unix.SIGCONT)}[in.Words[0]%2]
			in.Words[2] |= 1 << 31 // less than 0: one that a program may choose
		},
		happen: func(in *Input) error {
			info := make([]byte, 128)
			for i, w := range in.Words[:3] {
				binary.NativeEndian.PutUint32(info[4*i:], uint32(w))
			}
			_, _, errno := unix.RawSyscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(os.Getpid()), uintptr(in.Words[0]),
				uintptr(unsafe.Pointer(&info[0])))
			if errno != 0 {
				return errno
			}
			return nil
		},
	}
}

// listens makes a socket listen at an address of this machine.
func listens() deed {
	fields := []Field{intField("e.args.sport", 0, 16, false), intField("e.args.family", 4, 16, false),
		intField("e.args.oldstate", 5, 32, true), intField("e.args.newstate", 6, 32, true)}
	for i := range 3 {
		f := intField(fmt.Sprintf("e.args.saddr[%d]", i+1), 1+i, 8, false)
		f.ABI = "an array"
		fields = append(fields, f)
	}
	return deed{
		sites: []Site{{Point: "tracepoint:sock:inet_sock_set_state", Where: "e.args.newstate == 10",
			Fields: fields}},
		values: []Field{{Bits: 16}, {Bits: 8}, {Bits: 8}, {Bits: 8}},
		adjust: func(in *Input) {
			in.Words[0] |= 1 << 14
			in.Words[4], in.Words[5], in.Words[6] = unix.AF_INET, 7, 10 // TCP_CLOSE, TCP_LISTEN
		},
		happen: func(in *Input) error {
			s, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(s)
			if err := unix.SetsockoptInt(s, unix.SOL_IP, unix.IP_FREEBIND, 1); err != nil {
				return err
			}
			at := &unix.SockaddrInet4{Port: int(in.Words[0]), Addr: [4]byte{127, byte(in.Words[1]), byte(in.Words[2]),
				byte(in.Words[3])}}
			if err := unix.Bind(s, at); err != nil {
				return err
			}
			return unix.Listen(s, 1)
		},
	}
}

// TestAtTracepoints runs random programs at tracepoints whose values the test chooses.
func TestAtTracepoints(t *testing.T) {
	needBPF(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, facts, seed := &checker{}, realFacts(), setting(t, "DIFF_SEED", 1)
	for i, d := range []deed{renames(t), signals(), listens()} {
		inputs := InputsOf(d.values, uint64(seed+i), 12)
		for k := range inputs {
			d.adjust(&inputs[k])
		}
		for j, site := range d.sites {
			if testing.Short() && (i+j+seed)%2 != 0 {
				continue
			}
			c.compareScene(&scene{site: &site, pid: os.Getpid(), facts: facts, happen: d.happen,
				inputs: slices.Clone(inputs)}, uint64(1000*(seed+i)+100*j), howManyAt(t))
		}
	}
	c.bounded(t)
	c.reportScenes(t)
}
