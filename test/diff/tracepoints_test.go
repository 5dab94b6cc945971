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

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// A doer does a deed: adjust makes random values ones that it can have.
type doer struct {
	adjust func(*Input)
	happen func(*Input) error
}

// renames gives this thread a new name.
func renames(t *testing.T) doer {
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
	return doer{
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
func signals() doer {
	return doer{
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
func listens() doer {
	return doer{
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
	need.Loading(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, facts, seed := &checker{}, realFacts(), setting.Int(t, "DIFF_SEED", 1)
	doers := map[string]doer{"rename": renames(t), "signal": signals(), "listen": listens()}
	for i, deed := range Deeds {
		inputs, d := InputsOf(deed.Values, uint64(seed+i), 12), doers[deed.Name]
		for k := range inputs {
			d.adjust(&inputs[k])
		}
		for j, site := range deed.Sites {
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
