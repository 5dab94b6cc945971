package emit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/cilium/ebpf"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/ir/irtest"
	"github.com/startrace/startrace/bpfgen/lower"
	"github.com/startrace/startrace/bpfgen/opt"
	"github.com/startrace/startrace/bpfgen/regalloc"
	"github.com/startrace/startrace/test/need"
)

// TestKernelRandom runs random functions in the kernel and in the interpreter;
// results, context and map must be equal. STARTRACE_SEEDS sets how many.
func TestKernelRandom(t *testing.T) {
	needSyscallPrograms(t)
	n := uint64(60)
	if s := os.Getenv("STARTRACE_SEEDS"); s != "" {
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		n = 15
	}
	tooComplex := 0
	for seed := range n {
		f := irtest.Random(seed, optionsFor(seed))
		source, err := ir.Parse(f.String())
		if err != nil {
			t.Fatal(err)
		}
		if err := improve(f, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		err = compare(t, f, source, seed)
		if errors.Is(err, errTooComplex) {
			tooComplex++
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v\n%s\nfrom\n%s", seed, err, f, source)
		}
	}
	t.Logf("%d functions, %d too complex", n, tooComplex)
	if tooComplex > int(n/10) {
		t.Errorf("%d of %d functions were too complex for the verifier", tooComplex, n)
	}
}

func optionsFor(seed uint64) irtest.Options {
	return irtest.Options{Values: 5 + int(seed%150), Depth: int(seed % 5), Live: 2 + int(seed%29), Atomics: true,
		Macros: seed%2 == 0}
}

// improve takes f through the stages before register allocation; of some
// functions only through those that it needs.
func improve(f *ir.Func, seed uint64) error {
	if seed%3 != 0 {
		opt.Run(f)
	}
	if err := lower.Run(f, lower.Options{}); err != nil {
		return err
	}
	if seed%3 != 0 {
		opt.Run(f)
	}
	return f.CheckMachine()
}

func needSyscallPrograms(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root (uid 0) to load BPF programs")
	}
	need.BPF(t)
	f, err := ir.Parse("func \"probe\" {\nb0:\n  ret\n}\n")
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := load(f)
	if err != nil {
		t.Skipf("needs programs of type syscall (Linux 5.14): %v", err)
	}
	p.Close()
}

// errTooComplex says that the verifier gave up, which is not a fault of the
// code: random functions have no bound.
var errTooComplex = errors.New("too complex for the verifier")

// load compiles f and loads it with its map, if it has one.
func load(f *ir.Func) (*ebpf.Program, *ebpf.Map, error) {
	a, err := regalloc.Allocate(f)
	if err != nil {
		return nil, nil, err
	}
	if err := regalloc.Verify(f, a); err != nil {
		return nil, nil, err
	}
	code, err := Emit(f, a)
	if err != nil {
		return nil, nil, err
	}
	spec := &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{irtest.MapName: {
			Name: irtest.MapName, Type: ebpf.Array, KeySize: 4, ValueSize: irtest.MapSize, MaxEntries: 1,
		}},
		Programs: map[string]*ebpf.ProgramSpec{"f": {
			Name: "f", Type: ebpf.Syscall, Flags: 1 << 4 /* BPF_F_SLEEPABLE */, License: "GPL",
			Instructions: code.Insns,
		}},
	}
	c, err := ebpf.NewCollectionWithOptions(spec,
		ebpf.CollectionOptions{Programs: ebpf.ProgramOptions{LogDisabled: true}})
	if err != nil {
		if isTooComplex(err) {
			return nil, nil, errTooComplex
		}
		spec.Programs["f"].Instructions = code.Insns
		_, logErr := ebpf.NewCollection(spec)
		return nil, nil, fmt.Errorf("%w: %+v\n%v", err, logErr, code.Insns)
	}
	defer c.Close()
	return c.DetachProgram("f"), c.DetachMap(irtest.MapName), nil
}

// compare runs f in the kernel and source in the interpreter, on some inputs.
func compare(t *testing.T, f, source *ir.Func, seed uint64) error {
	p, m, err := load(f)
	if err != nil {
		return err
	}
	defer p.Close()
	defer m.Close()
	rng := rand.New(rand.NewPCG(seed, 2))
	for range 4 {
		if err := compareOne(p, m, source, input(rng)); err != nil {
			return err
		}
	}
	return nil
}

// input gives the bytes to read: numbers of all sizes, often near the ends.
func input(rng *rand.Rand) []byte {
	in := make([]byte, irtest.Inputs)
	for i := 0; i < len(in); i += 8 {
		x := rng.Uint64() >> rng.IntN(64)
		switch rng.IntN(4) {
		case 0:
			x = uint64(rng.IntN(4)) - 2
		case 1:
			x = -x
		}
		binary.LittleEndian.PutUint64(in[i:], x)
	}
	return in
}

func compareOne(p *ebpf.Program, m *ebpf.Map, f *ir.Func, in []byte) error {
	machine := irtest.NewMachine(in)
	want, err := machine.Run(f)
	if err != nil {
		return err
	}
	if err := m.Put(uint32(0), make([]byte, irtest.MapSize)); err != nil {
		return err
	}
	ctx := make([]byte, irtest.Inputs+irtest.Outputs)
	copy(ctx, in)
	out := make([]byte, len(ctx))
	got, err := p.Run(&ebpf.RunOptions{Context: ctx, ContextOut: out})
	if err != nil {
		return err
	}
	value, err := m.LookupBytes(uint32(0))
	if err != nil {
		return err
	}
	if got != uint32(want) || !bytes.Equal(out, machine.Ctx) || !bytes.Equal(value, machine.Maps[irtest.MapName]) {
		return fmt.Errorf("input %x: kernel %#x %x %x, interpreter %#x %x %x",
			in, got, out[irtest.Inputs:], value, uint32(want), machine.Ctx[irtest.Inputs:],
			machine.Maps[irtest.MapName])
	}
	return nil
}
