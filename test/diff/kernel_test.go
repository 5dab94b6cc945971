package diff

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/bpf"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/state"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
	"github.com/startrace/startrace/test/smallkernel"
)

// facts is a kernel with the raw tracepoints that the programs are for: diff, and done, with which spans end.
func facts(t testing.TB) *kernel.Facts {
	t.Helper()
	char := &btf.Int{Name: "char", Size: 1, Encoding: btf.Signed}
	node := nodeType()
	var params []btf.FuncParam
	for _, f := range Fields {
		var typ btf.Type = &btf.Int{Name: fmt.Sprintf("u%d", f.Bits), Size: uint32(f.Bits / 8)}
		switch {
		case f.Bits == 0:
			typ = &btf.Pointer{Target: char}
		case f.Ptr:
			typ = &btf.Pointer{Target: node}
		case f.Bool:
			typ = &btf.Int{Name: "_Bool", Size: 1, Encoding: btf.Bool}
		case f.Signed:
			typ = &btf.Int{Name: fmt.Sprintf("s%d", f.Bits), Size: uint32(f.Bits / 8), Encoding: btf.Signed}
		}
		params = append(params, btf.FuncParam{Name: f.Name, Type: typ})
	}
	blob := smallkernel.BTF(t, smallkernel.Tracepoint("diff", params...), smallkernel.Tracepoint("done", params...))
	return kernel.Open(kernel.Options{BTF: blob})
}

// scriptOf is the script of programs, each the kernel half of a probe.
func scriptOf(programs []*Program) string {
	s := ""
	for _, p := range programs {
		s += p.Script() + "probe(" + p.point() + ", kernel = " + p.Name + ")\n"
	}
	return s
}

// point is where the function of a program runs.
func (p *Program) point() string {
	switch {
	case p.Span && p.Key != nil:
		return "span(\"rawtracepoint:diff\", \"rawtracepoint:done\", key = " + p.Key.Name + ")"
	case p.Span:
		return "span(\"rawtracepoint:diff\", \"rawtracepoint:done\")"
	}
	return "\"rawtracepoint:diff\""
}

// compile makes the unit of a script. A panic of the compiler is an error.
func compile(src string, facts *kernel.Facts, strMax int, dump bool) (*bpfgen.Unit, error) {
	o := options()
	o.Dump = dump
	return compileFor(src, facts, strMax, o)
}

func compileFor(src string, facts *kernel.Facts, strMax int, options bpfgen.Options) (u *bpfgen.Unit, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	h := script.New(script.Options{Constant: kernel.Constant, StrMax: strMax, Labels: machineLabels})
	if err := h.ParseText("diff.star", []byte(src)); err != nil {
		return nil, err
	}
	if err := h.Run(nil); err != nil {
		return nil, err
	}
	for rolled := map[plan.Pos]bool{}; ; {
		res, err := infer.Plan(h.Plan(), facts, infer.Options{Rolled: rolled})
		if err != nil {
			return nil, err
		}
		u, err := bpfgen.Generate(res.Tree, options)
		if !bpfgen.RollMore(err, rolled) { // as a run does it
			return u, err
		}
	}
}

// options are those for this kernel, with a ring that takes little memory.
func options() bpfgen.Options {
	o := bpfgen.For(release())
	o.RingSize = 1 << 16
	return o
}

// release is the version of the kernel that programs run on, which may be a guest's; 0 where it is not known.
func release() kernel.Version {
	v, _ := kernel.Release()
	if name := os.Getenv(guestKernel); name != "" {
		v = kernel.Version{Text: name}
		_, _ = fmt.Sscanf(name, "%d.%d", &v.Major, &v.Minor)
	}
	return v
}

// old reports whether this kernel has no atomics that give the old value.
func old() bool { return !atLeast(5, 12) }

func atLeast(major, minor int) bool { return release().AtLeast(major, minor) }

// machine runs the programs of a unit in the kernel.
type machine struct {
	unit   *bpfgen.Unit
	loaded *ebpf.Collection
	reader *stream.Reader
	event  *value.Event
	// decoder makes values of what programs sent and keep.
	decoder *value.Decoder
	// names and starts are programs by the probe; a span has both.
	names, starts map[int]string
	sites         []uint64
	counters      []byte // the map of sites, mapped
	memory        *memory
	guest         *replay                   // what a guest did, where the unit ran in one
	state         map[string]starlark.Value // containers by their names
	backends      []state.Container
}

func newMachine(u *bpfgen.Unit) *machine {
	m := &machine{unit: u, names: map[int]string{}, starts: map[int]string{}, decoder: decoder(u.Tree.Names),
		sites: make([]uint64, len(u.Sites))}
	m.event = value.NewEvent(m.decoder)
	for _, p := range u.Tree.Programs {
		if len(u.Tree.Spans) > 0 && strings.HasSuffix(p.Name, "_in") {
			m.starts[p.Probe] = p.Name
			continue
		}
		m.names[p.Probe] = p.Name
	}
	return m
}

func load(u *bpfgen.Unit) (_ *machine, err error) {
	m := newMachine(u)
	if m.loaded, err = ebpf.NewCollection(u.Spec); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if ring := m.loaded.Maps[bpfgen.MapRing]; ring != nil {
		if m.reader, err = stream.NewReader(ring); err != nil {
			return nil, err
		}
	}
	if err := m.mapCounters(); err != nil {
		return nil, err
	}
	if m.memory, err = theMemory(); err != nil {
		return nil, err
	}
	return m, m.bind()
}

// mapCounters maps the counters of the unit's sites, if it has some.
func (m *machine) mapCounters() error { return m.mapCountersOf(m.loaded.Maps[bpfgen.MapSites]) }

func (m *machine) mapCountersOf(counters *ebpf.Map) (err error) {
	if counters == nil {
		return nil
	}
	if m.counters, err = unix.Mmap(counters.FD(), 0, int(counters.ValueSize()), unix.PROT_READ,
		unix.MAP_SHARED); err != nil {
		return fmt.Errorf("map the counters of sites: %w", err)
	}
	return nil
}

func (m *machine) unmapCounters() {
	if m.counters != nil && m.guest == nil {
		_ = unix.Munmap(m.counters)
	}
}

// drain gives the records that were sent.
func (m *machine) drain(f func([]byte)) (int, error) {
	if m.reader == nil {
		return m.guest.drain(f), nil
	}
	return m.reader.Drain(2, f)
}

func (m *machine) close() {
	if m.reader != nil {
		m.reader.Close()
	}
	m.unmapCounters()
	for _, b := range m.backends {
		_ = b.Close()
	}
	m.loaded.Close()
}

// run runs the program of a probe. A program without a record and without a counted error returned None.
func (m *machine) run(probe int, in Input) (outcome, error) {
	return m.runProgram(m.names[probe], probe, in)
}

// begin runs the start of a span.
func (m *machine) begin(probe int, in Input) (outcome, error) {
	return m.runProgram(m.starts[probe], probe, in)
}

func (m *machine) runProgram(name string, probe int, in Input) (outcome, error) {
	if name == "" {
		return outcome{value: starlark.None}, nil
	}
	if err := m.trigger(name, in); err != nil {
		return outcome{}, err
	}
	out, err := m.record(probe)
	if out.value == nil && err == nil {
		return m.failure()
	}
	return out, err
}

// trigger runs a program once with an input.
func (m *machine) trigger(name string, in Input) error {
	if m.guest != nil {
		return m.guest.run(m, name, in)
	}
	if _, err := bpf.Run(m.loaded.Programs[name], m.memory.context(in)); err != nil {
		return fmt.Errorf("run %s: %w", name, err)
	}
	return nil
}

// record decodes what the program sent.
func (m *machine) record(probe int) (out outcome, err error) {
	_, err = m.drain(func(buf []byte) {
		rec := m.unit.Tree.Records[binary.NativeEndian.Uint32(buf[wire.HeaderNumber:])]
		m.event.Set(rec, buf)
		switch {
		case rec.Probe != probe:
			err = fmt.Errorf("probe %d sent a record of probe %d", probe, rec.Probe)
		case out.value != nil:
			err = fmt.Errorf("probe %d sent two records", probe)
		default:
			out.value, err = m.result(rec)
		}
	})
	return out, err
}

// result is what the function returned: e.value, or a record.
func (m *machine) result(rec *wire.Record) (starlark.Value, error) {
	var names []string
	var vals []starlark.Value
	for i, f := range rec.Fields {
		v, err := m.event.Field(i)
		if err != nil {
			return nil, err
		}
		switch f.Name {
		case "comm", "pid", "probe":
		case "value":
			return v, nil
		default:
			names, vals = append(names, f.Name), append(vals, v)
		}
	}
	return value.NewRecord(names, vals), nil
}

// failure finds the counter that has grown. All are noted, so that the next program's run does not find them again.
func (m *machine) failure() (_ outcome, err error) {
	out := outcome{value: starlark.None}
	if m.counters == nil {
		return out, nil
	}
	for i, s := range m.unit.Sites {
		n := binary.NativeEndian.Uint64(m.counters[8*i:])
		if n == m.sites[i] {
			continue
		}
		m.sites[i] = n
		if s.Kind == tree.SiteOrphanEnd || s.Kind == tree.SiteOpenStart {
			continue // the reference knows of them, too
		}
		switch s.Kind {
		case tree.SiteError:
			out = outcome{what: s.What, line: int(s.Pos.Line)}
		case tree.SiteFull:
			err = errFull
		default:
			err = fmt.Errorf("lost something of kind %d: %s", s.Kind, s.What)
		}
	}
	return out, err
}

// errFull says that a container was full, which those of the reference never are.
var errFull = errors.New("a container is full")
