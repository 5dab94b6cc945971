package diff

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/rlimit"
	"go.starlark.net/starlark"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/stream"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
)

func needBPF(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to load BPF programs")
	}
	if err := rlimit.RemoveMemlock(); err != nil {
		t.Skipf("needs unlimited locked memory: %v", err)
	}
	m, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.RingBuf, MaxEntries: 1 << 16})
	if err != nil {
		t.Skipf("needs a kernel with ring buffers: %v", err)
	}
	m.Close()
}

// facts is a kernel with the one raw tracepoint that the programs are for.
func facts(t testing.TB) *kernel.Facts {
	t.Helper()
	char := &btf.Int{Name: "char", Size: 1, Encoding: btf.Signed}
	params := []btf.FuncParam{{Name: "__data", Type: &btf.Pointer{Target: &btf.Void{}}}}
	for _, f := range Fields {
		var typ btf.Type = &btf.Int{Name: fmt.Sprintf("u%d", f.Bits), Size: uint32(f.Bits / 8)}
		switch {
		case f.Bits == 0:
			typ = &btf.Pointer{Target: char}
		case f.Bool:
			typ = &btf.Int{Name: "_Bool", Size: 1, Encoding: btf.Bool}
		case f.Signed:
			typ = &btf.Int{Name: fmt.Sprintf("s%d", f.Bits), Size: uint32(f.Bits / 8), Encoding: btf.Signed}
		}
		params = append(params, btf.FuncParam{Name: f.Name, Type: typ})
	}
	proto := &btf.FuncProto{Return: &btf.Void{}, Params: params}
	b, err := btf.NewBuilder([]btf.Type{&btf.Typedef{Name: "btf_trace_diff", Type: &btf.Pointer{Target: proto}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	blob, err := b.Marshal(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return kernel.Open(kernel.Options{BTF: blob})
}

// scriptOf is the script of programs, each the kernel half of a probe.
func scriptOf(programs []*Program) string {
	s := ""
	for _, p := range programs {
		s += p.Script() + "probe(\"rawtracepoint:diff\", kernel = " + p.Name + ")\n"
	}
	return s
}

// compile makes the unit of a script. A panic of the compiler is an error.
func compile(src string, facts *kernel.Facts, strMax int, dump bool) (u *bpfgen.Unit, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	h := script.New(script.Options{Constant: kernel.Constant, StrMax: strMax})
	if err := h.ParseText("diff.star", []byte(src)); err != nil {
		return nil, err
	}
	if err := h.Run(nil); err != nil {
		return nil, err
	}
	res, err := infer.Unit(h.Plan(), facts)
	if err != nil {
		return nil, err
	}
	return bpfgen.Generate(res.Tree, bpfgen.Options{RingSize: 1 << 16, Dump: dump})
}

// machine runs the programs of a unit in the kernel.
type machine struct {
	unit   *bpfgen.Unit
	loaded *ebpf.Collection
	reader *stream.Reader
	event  *value.Event
	names  map[int]string // of programs, by the probe
	sites  []uint64
	memory []byte
}

func load(u *bpfgen.Unit) (*machine, error) {
	m := &machine{unit: u, names: map[int]string{}, event: value.NewEvent(&value.Decoder{}), sites: make([]uint64, len(u.Sites))}
	for _, p := range u.Tree.Programs {
		m.names[p.Probe] = p.Name
	}
	var err error
	if m.loaded, err = ebpf.NewCollection(u.Spec); err != nil {
		return nil, err
	}
	if ring := m.loaded.Maps[bpfgen.MapRing]; ring != nil {
		if m.reader, err = stream.NewReader(ring); err != nil {
			m.close()
			return nil, err
		}
	}
	// Behind the strings lies a page that cannot be read.
	if m.memory, err = unix.Mmap(-1, 0, 3*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON); err == nil {
		err = unix.Mprotect(m.memory[2*4096:], unix.PROT_NONE)
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *machine) close() {
	if m.reader != nil {
		m.reader.Close()
	}
	if m.memory != nil {
		_ = unix.Munmap(m.memory)
	}
	m.loaded.Close()
}

// context writes the strings of an input and gives the words of the tracepoint: the first string lies at the end of
// its page, before memory that cannot be read.
func (m *machine) context(in Input) []uint64 {
	ctx := in.Words
	at := 2 * 4096
	for i, f := range Fields {
		if f.Bits != 0 {
			continue
		}
		s := in.Texts[i]
		if s.Fault {
			ctx[i] = 8
			continue
		}
		at -= len(s.S) + 1
		copy(m.memory[at:], s.S)
		m.memory[at+len(s.S)] = 0
		ctx[i] = uint64(uintptr(unsafe.Pointer(&m.memory[at])))
		at = 4096 // the second lies at the end of its page, too
	}
	return ctx[:]
}

// run runs the program of a probe. A program without a record and without a counted error returned None.
func (m *machine) run(probe int, in Input) (outcome, error) {
	name, ok := m.names[probe]
	if !ok {
		return outcome{value: starlark.None}, nil
	}
	if _, err := m.loaded.Programs[name].Run(&ebpf.RunOptions{Context: m.context(in)}); err != nil {
		return outcome{}, fmt.Errorf("run %s: %w", name, err)
	}
	out, err := m.record(probe)
	if out.value == nil && err == nil {
		return m.failure()
	}
	return out, err
}

// record decodes what the program sent.
func (m *machine) record(probe int) (out outcome, err error) {
	if m.reader == nil {
		return outcome{}, nil
	}
	_, err = m.reader.Drain(2, func(buf []byte) {
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

// failure finds the counter that has grown.
func (m *machine) failure() (outcome, error) {
	counters := m.loaded.Maps[bpfgen.MapSites]
	if counters == nil {
		return outcome{value: starlark.None}, nil
	}
	b, err := counters.LookupBytes(uint32(0))
	if err != nil {
		return outcome{}, err
	}
	out := outcome{value: starlark.None}
	for i, s := range m.unit.Sites {
		n := binary.NativeEndian.Uint64(b[8*i:])
		if n == m.sites[i] {
			continue
		}
		m.sites[i] = n
		if s.Kind != tree.SiteError {
			return outcome{}, fmt.Errorf("lost something of kind %d: %s", s.Kind, s.What)
		}
		out = outcome{what: s.What, line: int(s.Pos.Line)}
	}
	return out, nil
}

// same reports whether the kernel's outcome is the reference's. A string that was cut ends with a mark.
func same(k, r outcome) bool {
	if k.value == nil || r.value == nil {
		return k.value == nil && r.value == nil
	}
	return sameValue(k.value, r.value)
}

func sameValue(k, r starlark.Value) bool {
	switch k := k.(type) {
	case starlark.String:
		r, ok := r.(starlark.String)
		return ok && (k == r || k == r+"…" && len(r) == StrMax)
	case starlark.Tuple:
		r, ok := r.(starlark.Tuple)
		return ok && sameValues(k, r)
	case *value.Record:
		r, ok := r.(*value.Record)
		return ok && sameRecord(k, r)
	}
	if k.Type() != r.Type() {
		return false
	}
	eq, err := starlark.Equal(k, r)
	return eq && err == nil
}

func sameValues(k, r []starlark.Value) bool {
	for i := range k {
		if len(k) != len(r) || !sameValue(k[i], r[i]) {
			return false
		}
	}
	return len(k) == len(r)
}

func sameRecord(k, r *value.Record) bool {
	names, _ := k.Fields()
	others, _ := r.Fields()
	names, others = append([]string{}, names...), append([]string{}, others...)
	sort.Strings(names)
	sort.Strings(others)
	if fmt.Sprint(names) != fmt.Sprint(others) {
		return false
	}
	for _, n := range names {
		if !sameValue(k.Get(n), r.Get(n)) {
			return false
		}
	}
	return true
}
