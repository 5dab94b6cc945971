package diff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
)

// A running program answers each call that it is told to make.
type running struct {
	*exec.Cmd
	in  io.WriteCloser
	out io.Reader
}

// carried is the program that comes along into guests, which have no compiler: that of the first seed, built by package
// target.
func carried() *UserProgram { return NewUserProgram(1, 10, 6) }

// TestCarriedProgram compares it with what package target builds; DIFF_WRITE=1 writes that.
func TestCarriedProgram(t *testing.T) {
	const file = "../target/testdata/points.c"
	want := "// Written by package diff (DIFF_WRITE=1 go test -run TestCarriedProgram ./test/diff), which calls it.\n" +
		carried().Source
	if os.Getenv("DIFF_WRITE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) && inGuest() {
		t.Skip("needs the source tree, which guests do not have")
	}
	if err != nil || string(got) != want {
		t.Errorf("%s is not what this package makes: %v", file, err)
	}
}

func inGuest() bool { return os.Getenv("STARTRACE_VM") != "" }

// start builds the program, or in a guest takes the one that came along.
func (p *UserProgram) start(t *testing.T, command string) (path string, r *running) {
	t.Helper()
	if inGuest() {
		path, err := filepath.Abs("../../bin/target/points")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Skipf("needs gcc where guests are started: %v", err)
		}
		return path, run(t, path)
	}
	path = need.Built(t, command, "calls.c", p.Source)
	return path, run(t, path)
}

func run(t *testing.T, path string) *running {
	t.Helper()
	r := &running{Cmd: exec.Command(path)}
	var err error
	if r.in, err = r.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if r.out, err = r.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.in.Close()
		if err := r.Wait(); err != nil {
			t.Errorf("the program that was traced: %v", err)
		}
	})
	return r
}

// call makes the program call something, and gives the addresses of its stack there.
func (r *running) call(bytes []byte) (frames []uint64, err error) {
	if _, err := r.in.Write(bytes); err != nil {
		return nil, err
	}
	answer := []byte{0, 0}
	if _, err := io.ReadFull(r.out, answer); err != nil {
		return nil, err
	}
	if answer[0] != bytes[0] {
		return nil, fmt.Errorf("the program answers %d", answer[0])
	}
	frames = make([]uint64, answer[1])
	return frames, binary.Read(r.out, binary.NativeEndian, frames)
}

// TestAtUserCalls runs random programs at functions and static probes of a program of C, with arguments of all classes
// of the ABI, and at the starts of its calls.
//
// > A handler of `start =` that ends with an error ends alone.
// > The call is an event all the same, on both sides.
func TestAtUserCalls(t *testing.T) {
	need.Loading(t)
	seed, n := setting.Int(t, "DIFF_SEED", 1), howManyAt(t)
	static := 4 + n
	if runtime.GOARCH != "amd64" {
		static = 0 // the operands are written for amd64
	}
	p := NewUserProgram(uint64(seed), 8+n, static)
	if inGuest() {
		p = carried()
	}
	path, r := p.start(t, "gcc -w -g -fno-omit-frame-pointer "+
		[]string{"-O2", "-O1 -static", "-O0", "-O1 -static-pie"}[seed%4])
	c, facts := &checker{}, realFacts()
	for i := range p.Calls {
		call := &p.Calls[i]
		if call.Static && static == 0 {
			continue
		}
		unprobed, err := r.call(call.Bytes(i, &call.Inputs(1, 1)[0]))
		if err != nil {
			t.Fatal(err)
		}
		happen := func(in *Input) (err error) {
			if in.frames, err = r.call(call.Bytes(i, in)); err == nil {
				in.frames[1] = unprobed[1] // a return that is probed has another address there
			}
			return err
		}
		for j, site := range call.Sites(path) {
			if (i+j+seed)%oneOf() != 0 {
				continue
			}
			c.compareScene(&scene{site: &site, pid: r.Process.Pid, facts: facts, happen: happen,
				inputs: call.Inputs(uint64(seed+i), 12)}, uint64(1000*(seed+i)+100*j), n)
		}
	}
	c.bounded(t)
	c.reportScenes(t)
}
