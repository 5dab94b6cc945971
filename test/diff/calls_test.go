package diff

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// makes makes the call of each input.
func (c *SystemCall) makes(number int) (func(*Input) error, error) {
	m, err := theMemory()
	if err != nil {
		return nil, err
	}
	return func(in *Input) error {
		at := 2 * pageSize
		for i, a := range c.Args {
			switch {
			case a.Type != "path":
			case in.Texts[i].Fault:
				in.Words[i] = 8
			default:
				at -= len(in.Texts[i].S) + 1
				in.Words[i] = m.put(at, in.Texts[i].S+"\x00")
				at = pageSize
			}
		}
		w := &in.Words
		words := [6]uintptr{}
		for i := range c.Args {
			words[i] = uintptr(w[i])
		}
		ret, _, errno := unix.RawSyscall6(uintptr(number), words[0], words[1], words[2], words[3], words[4], words[5])
		if w[c.result()], w[c.number()] = uint64(ret), uint64(number); errno != 0 {
			w[c.result()] = -uint64(errno)
		}
		return nil
	}, nil
}

// TestAtCalls runs random programs where system calls are seen, with arguments of all widths and signs.
func TestAtCalls(t *testing.T) {
	need.Loading(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, facts := &checker{}, realFacts()
	n, seed := howManyAt(t), setting.Int(t, "DIFF_SEED", 1)
	for i, call := range Calls {
		number, ok := numberOf(call.Name)
		if !ok {
			t.Errorf("no call %s", call.Name)
			continue
		}
		happen, err := call.makes(number)
		if err != nil {
			t.Fatal(err)
		}
		for j, site := range call.Sites(number) {
			if (i+j+seed)%oneOf() != 0 {
				continue
			}
			c.compareScene(&scene{site: &site, pid: os.Getpid(), facts: facts, happen: happen,
				inputs: call.Inputs(uint64(seed+i), 12)}, uint64(1000*(seed+i)+100*j), n)
		}
	}
	c.bounded(t)
	c.reportScenes(t)
}

func numberOf(call string) (int, bool) {
	for _, sc := range kernel.MatchSyscalls(call) {
		if sc.Entry == kernel.EntryNative {
			return sc.Nr, true
		}
	}
	return 0, false
}

// howManyAt is how many random programs run at each site.
func howManyAt(t *testing.T) int { return max(2, howMany(t, 200)/100) }

// oneOf is of how many sites one is taken: in the long form all are.
func oneOf() int {
	switch {
	case testing.Short():
		return 5
	case os.Getenv("DIFF_PROGRAMS") == "":
		return 3
	}
	return 1
}
