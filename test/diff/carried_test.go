package diff

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/stream"
)

// An emulated guest needs ten times longer for everything. So units for another kernel are compiled on this machine
// (see guests), carried into the guest, and only loaded and run there; what they did is carried back as bytes.

// runCarriedFile is what the guest runs: this binary, with the name of a file of units in this variable.
const runCarriedFile = "DIFF_CARRIED"

// carriedResults is where it leaves what they did: test/vm brings that back.
const carriedResults = "/out/results"

// A carriedFile begins a file of units.
type carriedFile struct {
	Inputs []Input
	Units  int
}

// A carriedUnit is what is loaded and run together.
type carriedUnit struct {
	Maps     []carriedMap
	Programs []carriedProgram
	Start    map[string][]ebpf.MapKV // what containers begin with
	Runs     []carriedRun
	Sites    int
}

// A carriedMap is an ebpf.MapSpec.
type carriedMap struct {
	Name                                  string
	Type                                  ebpf.MapType
	KeySize, ValueSize, MaxEntries, Flags uint32
	Contents                              []ebpf.MapKV
}

// A carriedProgram is an ebpf.ProgramSpec.
type carriedProgram struct {
	Name         string
	Type         ebpf.ProgramType
	Instructions []carriedInstruction
}

// A carriedInstruction is an asm.Instruction with what belongs to it.
type carriedInstruction struct {
	Op                asm.OpCode
	Dst, Src          asm.Register
	Offset            int16
	Constant          int64
	Symbol, Reference string
}

// A carriedRun is one run, of a program with an input.
type carriedRun struct {
	Program string
	Input   int
}

// carriedResult is what a unit did.
type carriedResult struct {
	Failed  *carriedError            // the unit could not be loaded
	Refused map[string]*carriedError // programs that could not
	Ran     []carriedOutcome         // by the number of the run
	End     map[string][]ebpf.MapKV  // what containers hold in the end
}

// carriedOutcome is what one run did.
type carriedOutcome struct {
	Failed  *carriedError
	Records [][]byte
	Sites   []carriedCount // those that have grown
}

// carriedCount is a counter of a site.
type carriedCount struct {
	Site  int
	Count uint64
}

// A carriedError is an error with its number.
type carriedError struct {
	Text  string
	Errno unix.Errno
}

func (e *carriedError) Error() string { return e.Text }
func (e *carriedError) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// longestError keeps what the verifier says within bounds: its last lines say why.
const longestError = 8000

func carryError(err error) *carriedError {
	if err == nil {
		return nil
	}
	e := &carriedError{Text: fmt.Sprintf("%+v", err)}
	e.Text = e.Text[:min(len(e.Text), 200)] + e.Text[max(min(len(e.Text), 200), len(e.Text)-longestError):]
	errors.As(err, &e.Errno)
	return e
}

func init() {
	for _, v := range []any{uint32(0), []byte(nil), ""} { // what ebpf.MapKV holds
		gob.Register(v)
	}
}

// carryUnit makes what is carried of a unit, to be run with so many inputs.
func carryUnit(u *bpfgen.Unit, programs []*Program, inputs int) (*carriedUnit, error) {
	out := &carriedUnit{Sites: len(u.Sites), Start: map[string][]ebpf.MapKV{}}
	for _, m := range u.Spec.Maps {
		out.Maps = append(out.Maps, carriedMap{m.Name, m.Type, m.KeySize, m.ValueSize, m.MaxEntries, m.Flags,
			m.Contents})
	}
	for name, p := range u.Spec.Programs {
		out.Programs = append(out.Programs, carriedProgram{name, p.Type, carryInstructions(p.Instructions)})
	}
	m, err := load(withoutPrograms(u))
	if err != nil {
		return nil, err
	}
	defer m.close()
	for i, p := range programs {
		for at := range inputs {
			end := at
			if p.Span {
				end = (at + 1) % inputs
			}
			for _, r := range []carriedRun{{m.starts[i], at}, {m.names[i], end}} {
				if r.Program != "" {
					out.Runs = append(out.Runs, r)
				}
			}
		}
	}
	out.Start, err = holds(m.loaded.Maps)
	return out, err
}

// withoutPrograms is u with its maps only.
func withoutPrograms(u *bpfgen.Unit) *bpfgen.Unit {
	out, spec := *u, *u.Spec
	spec.Programs, spec.Maps = nil, map[string]*ebpf.MapSpec{}
	for name, m := range u.Spec.Maps {
		if m.Type != ebpf.ProgramArray {
			spec.Maps[name] = m
		}
	}
	out.Spec = &spec
	return &out
}

func carryInstructions(insns asm.Instructions) (out []carriedInstruction) {
	for _, i := range insns {
		out = append(out, carriedInstruction{i.OpCode, i.Dst, i.Src, i.Offset, i.Constant, i.Symbol(), i.Reference()})
	}
	return out
}

// instructions is the way back. Functions that the kernel calls, for bpf_loop, need a description.
func (p *carriedProgram) instructions() asm.Instructions {
	var out asm.Instructions
	called, functions := false, 0
	for _, c := range p.Instructions {
		i := asm.Instruction{OpCode: c.Op, Dst: c.Dst, Src: c.Src, Offset: c.Offset, Constant: c.Constant}
		if c.Symbol != "" {
			i = i.WithSymbol(c.Symbol)
		}
		if c.Reference != "" {
			i = i.WithReference(c.Reference)
		}
		called = called || i.IsFunctionReference() && i.OpCode.IsDWordLoad()
		out = append(out, i)
	}
	number := &btf.Int{Name: "long", Size: 8, Encoding: btf.Signed}
	typ := &btf.FuncProto{Return: number, Params: []btf.FuncParam{{Name: "a", Type: number}, {Name: "b", Type: number}}}
	for n := range out {
		if called && out[n].Symbol() != "" {
			out[n] = btf.WithFuncMetadata(out[n], &btf.Func{Name: fmt.Sprintf("f%d", functions), Type: typ,
				Linkage: btf.StaticFunc})
			functions++
		}
	}
	return out
}

// ofContainer are the names of the maps that containers are in.
var ofContainer = regexp.MustCompile(`^(` + tree.MapContainer + `\d+|` + tree.MapEpochs + `)$`)

// holds is what the containers among maps hold.
func holds(maps map[string]*ebpf.Map) (map[string][]ebpf.MapKV, error) {
	out := map[string][]ebpf.MapKV{}
	for name, m := range maps {
		if !ofContainer.MatchString(name) {
			continue
		}
		var k, v []byte
		it := m.Iterate()
		for it.Next(&k, &v) {
			out[name] = append(out[name], ebpf.MapKV{Key: slices.Clone(k), Value: slices.Clone(v)})
		}
		if err := it.Err(); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return out, nil
}

// fill puts it there.
func fill(maps map[string]*ebpf.Map, with map[string][]ebpf.MapKV) error {
	for name, list := range with {
		for _, kv := range list {
			if err := maps[name].Put(kv.Key, kv.Value); err != nil {
				return fmt.Errorf("fill %s: %w", name, err)
			}
		}
	}
	return nil
}

// runCarried runs the units of a file, and is all that this binary does then.
func runCarried(name string) error {
	runtime.LockOSThread() // spans without a key belong to a thread
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	out, err := os.Create(carriedResults)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	if err := runUnits(bufio.NewReader(f), w); err != nil {
		return err
	}
	return errors.Join(w.Flush(), out.Close())
}

func runUnits(r io.Reader, w io.Writer) error {
	in, out := gob.NewDecoder(r), gob.NewEncoder(w)
	var head carriedFile
	if err := in.Decode(&head); err != nil {
		return err
	}
	for range head.Units {
		var u carriedUnit
		if err := in.Decode(&u); err != nil {
			return err
		}
		if err := out.Encode(u.run(head.Inputs)); err != nil {
			return err
		}
	}
	return nil
}

// spec is what is loaded.
func (u *carriedUnit) spec() *ebpf.CollectionSpec {
	spec := &ebpf.CollectionSpec{Maps: map[string]*ebpf.MapSpec{}, Programs: map[string]*ebpf.ProgramSpec{}}
	for _, m := range u.Maps {
		spec.Maps[m.Name] = &ebpf.MapSpec{Name: m.Name, Type: m.Type, KeySize: m.KeySize, ValueSize: m.ValueSize,
			MaxEntries: m.MaxEntries, Flags: m.Flags, Contents: m.Contents}
	}
	for _, p := range u.Programs {
		spec.Programs[p.Name] = &ebpf.ProgramSpec{Name: p.Name, Type: p.Type, Instructions: p.instructions(),
			License: "GPL"}
	}
	return spec
}

func (u *carriedUnit) run(inputs []Input) *carriedResult {
	res := &carriedResult{Refused: map[string]*carriedError{}}
	loaded, err := u.load(res)
	if err == nil {
		defer loaded.Close()
		err = u.runAll(loaded, inputs, res)
	}
	res.Failed = carryError(err)
	return res
}

// load loads what can be.
func (u *carriedUnit) load(res *carriedResult) (*ebpf.Collection, error) {
	for spec := u.spec(); ; {
		loaded, err := ebpf.NewCollection(spec)
		if err == nil {
			return loaded, nil
		}
		refused := ""
		for name := range spec.Programs {
			if strings.Contains(err.Error(), "program "+name+":") {
				refused = name
			}
		}
		if refused == "" {
			return nil, err
		}
		res.Refused[refused] = carryError(err)
		delete(spec.Programs, refused)
	}
}

func (u *carriedUnit) runAll(loaded *ebpf.Collection, inputs []Input, res *carriedResult) (err error) {
	m := &machine{loaded: loaded, sites: make([]uint64, u.Sites)}
	if err := fill(loaded.Maps, u.Start); err != nil {
		return err
	}
	if m.memory, err = theMemory(); err != nil {
		return err
	}
	if ring := loaded.Maps[bpfgen.MapRing]; ring != nil {
		if m.reader, err = stream.NewReader(ring); err != nil {
			return err
		}
		defer m.reader.Close()
	}
	if err := m.mapCounters(); err != nil {
		return err
	}
	defer m.unmapCounters()
	for _, r := range u.Runs {
		out, err := m.runCarried(loaded.Programs[r.Program], inputs[r.Input])
		if err != nil {
			return err
		}
		res.Ran = append(res.Ran, out)
	}
	res.End, err = holds(loaded.Maps)
	return err
}

// runCarried runs a program once, if it could be loaded, and keeps what it did.
func (m *machine) runCarried(p *ebpf.Program, in Input) (out carriedOutcome, err error) {
	if p == nil {
		return out, nil
	}
	if _, err := bpf.Run(p, m.memory.context(in)); err != nil {
		out.Failed = carryError(err)
		return out, nil
	}
	if _, err := m.drain(func(buf []byte) { out.Records = append(out.Records, slices.Clone(buf)) }); err != nil {
		return out, err
	}
	for i := range m.sites {
		if m.counters == nil {
			break
		}
		if n := binary.NativeEndian.Uint64(m.counters[8*i:]); n != m.sites[i] {
			out.Sites, m.sites[i] = append(out.Sites, carriedCount{i, n}), n
		}
	}
	return out, nil
}
