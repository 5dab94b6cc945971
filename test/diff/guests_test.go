package diff

import (
	"archive/tar"
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen"
)

// guestKernel is the variable that names a kernel of test/vm: the programs are compiled for it and run there. Without
// it they run on this one.
const guestKernel = "DIFF_KERNEL"

// vmCommand is the variable with the command that starts a guest.
const vmCommand = "DIFF_VM"

// perGuest is how many programs one guest runs.
const perGuest = 10000

// guests collects units for guests with another kernel, and what is done with each when it has run.
type guests struct {
	kernel   string
	inputs   []Input
	units    []waiting
	programs int
}

// waiting is a unit that has not run yet.
type waiting struct {
	unit    *bpfgen.Unit
	carried *carriedUnit
	then    func(*machine)
	failed  func(error)
}

// guestsFor is for the kernel that the environment names; nil if it is this one.
func guestsFor(inputs []Input) *guests {
	if name := os.Getenv(guestKernel); name != "" {
		return &guests{kernel: name, inputs: inputs}
	}
	return nil
}

// on calls then with the programs of a unit in the kernel, or failed. Where that is a guest's it does so later (flush).
func (c *checker) on(u *bpfgen.Unit, programs []*Program, then func(*machine), failed func(error)) {
	if !atLeast(5, 16) && hasWideKey(u) {
		failed(errWideKey)
		return
	}
	if c.guests != nil {
		carried, err := carryUnit(u, programs, len(c.inputs))
		if err != nil {
			failed(err)
			return
		}
		u.Spec.Programs = nil // which takes most of the memory
		c.guests.units = append(c.guests.units, waiting{u, carried, then, failed})
		c.guests.programs += len(programs)
		return
	}
	m, err := load(u)
	if err != nil {
		failed(err)
		return
	}
	defer m.close()
	then(m)
}

// errWideKey says that a key has more bytes than the kernel takes, as docs/semantics.md says of those before 5.16.
var errWideKey = errors.New("a key of more than 512 bytes")

func hasWideKey(u *bpfgen.Unit) bool {
	for _, m := range u.Spec.Maps {
		if m.KeySize > 512 {
			return true
		}
	}
	return false
}

// flush runs in guests what waits for that, if it is enough or the end. What comes of that may have to run, too.
func (c *checker) flush(end bool) error {
	g := c.guests
	for g != nil && len(g.units) > 0 && (end || g.programs >= perGuest) {
		units := g.units
		g.units, g.programs = nil, 0
		if err := g.runAll(units); err != nil {
			return err
		}
	}
	return nil
}

func (g *guests) runAll(units []waiting) error {
	dir, err := os.MkdirTemp("", "startrace-diff")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := g.write(filepath.Join(dir, "units"), units); err != nil {
		return err
	}
	if err := g.boot(dir); err != nil {
		return err
	}
	return read(filepath.Join(dir, g.kernel+".tar"), units)
}

func (g *guests) write(name string, units []waiting) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	out := gob.NewEncoder(w)
	if err := out.Encode(carriedFile{Inputs: g.inputs, Units: len(units)}); err != nil {
		return err
	}
	for _, u := range units {
		if err := out.Encode(u.carried); err != nil {
			return err
		}
		u.carried.Programs = nil
	}
	return errors.Join(w.Flush(), f.Close())
}

// boot runs this binary in a guest.
func (g *guests) boot(dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := strings.Fields(os.Getenv(vmCommand))
	if len(command) == 0 {
		command = []string{"go", "run", "./test/vm"}
	}
	units := filepath.Join(dir, "units")
	args := append(command[1:len(command):len(command)], "-kernel", g.kernel, "-append", "mitigations=off", "-timeout",
		"5h", "-out", dir,
		"-file", self+":/diff", "-file", units+":/units", "-env", runCarriedFile+"=/units", "--", "/diff")
	cmd := exec.Command(command[0], args...)
	cmd.Dir = "../.." // where the module is
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("a guest with kernel %s: %w\n%s", g.kernel, err, out)
	}
	return nil
}

// read goes on with what each unit did.
func read(name string, units []waiting) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for r := tar.NewReader(bufio.NewReader(f)); ; {
		h, err := r.Next()
		if err != nil {
			return fmt.Errorf("what the guest left: %w", err)
		}
		if filepath.Base(h.Name) == filepath.Base(carriedResults) {
			return results(r, units)
		}
	}
}

func results(r io.Reader, units []waiting) error {
	in := gob.NewDecoder(r)
	for _, w := range units {
		var res carriedResult
		if err := in.Decode(&res); err != nil {
			return fmt.Errorf("results: %w", err)
		}
		if res.Failed != nil {
			w.failed(res.Failed)
			continue
		}
		m, err := replayed(w.unit, w.carried, &res)
		if err != nil {
			return err
		}
		w.then(m)
		m.close()
	}
	return nil
}

// A replay gives what the programs of a unit did in a guest.
type replay struct {
	refused map[string]*carriedError
	ran     map[carriedRun]carriedOutcome
	pending [][]byte // records of the last run
}

// replayed is a machine whose programs ran in a guest. The maps of the containers are here, with what those of the
// guest held in the end.
func replayed(u *bpfgen.Unit, carried *carriedUnit, res *carriedResult) (*machine, error) {
	u.Spec.Programs = map[string]*ebpf.ProgramSpec{}
	m, err := load(withoutPrograms(u))
	if err != nil {
		return nil, err
	}
	m.unmapCounters()
	if m.reader != nil {
		m.reader.Close()
		m.reader = nil
	}
	m.counters = make([]byte, 8*len(u.Sites))
	m.guest = &replay{refused: res.Refused, ran: map[carriedRun]carriedOutcome{}}
	for i, out := range res.Ran {
		m.guest.ran[carried.Runs[i]] = out
	}
	return m, fill(m.loaded.Maps, res.End)
}

// run is one run of a program.
func (r *replay) run(m *machine, name string, in Input) error {
	out, ok := r.ran[carriedRun{name, in.Number}]
	switch {
	case !ok:
		return fmt.Errorf("%s did not run with input %d in the guest", name, in.Number)
	case out.Failed != nil:
		return fmt.Errorf("run %s: %w", name, out.Failed)
	}
	r.pending = out.Records
	for _, s := range out.Sites {
		binary.NativeEndian.PutUint64(m.counters[8*s.Site:], s.Count)
	}
	return nil
}

func (r *replay) drain(f func([]byte)) int {
	if r == nil {
		return 0
	}
	records := r.pending
	r.pending = nil
	for _, buf := range records {
		f(buf)
	}
	return len(records)
}

// refused is why the kernel of a guest refused a program.
func (m *machine) refused(probe int) error {
	if m.guest != nil {
		for _, name := range []string{m.names[probe], m.starts[probe]} {
			if err := m.guest.refused[name]; err != nil {
				return err
			}
		}
	}
	return nil
}
