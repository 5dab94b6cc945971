package symbols

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/startrace/startrace/internal/until"
)

// Names of code that a program compiles itself (JIT): perf-PID.map, jitdump.

// A perfMap has the functions that a program compiled itself, as it tells in
// /tmp/perf-PID.map (the kernel's tools/perf/Documentation/jit-interface.txt),
// or else in a jitdump file.
type perfMap struct {
	functions []compiled // by start, later ones over earlier
	size      int64
	modified  time.Time
	// cut says that the file is too large to be read whole; "": it is not.
	cut string
	// reading has the next version while it is read.
	reading *until.Later[*perfMap]
}

type compiled struct {
	start, size uint64
	name        string
}

// maxPerfMap bounds the file, which has a line for each compiled function.
const maxPerfMap = 64 << 20

// compiled finds an address of code that a program compiled itself. The file
// grows while the program runs: on a miss it is looked at again.
func (t *Namer) compiled(p *Process, addr uint64) (compiled, bool) {
	fn, ok := p.perf.find(addr)
	if !ok && t.refresh(p) {
		fn, ok = p.perf.find(addr)
	}
	return fn, ok
}

// refresh reads the file if it has changed.
func (t *Namer) refresh(p *Process) bool {
	if p.perf.reading == nil && !p.compiles() {
		return false
	}
	if p.perf.reading == nil && !p.readPerfMap() {
		return false
	}
	next, ok := p.perf.reading.Value(t.Wait)
	if !ok {
		t.late()
		return false
	}
	p.perf.reading = nil
	if next == nil {
		return false
	}
	p.perf = *next
	t.lose(p.perf.cut)
	return true
}

// readPerfMap begins to read the file, if it has changed.
func (p *Process) readPerfMap() bool {
	name, parse := fmt.Sprintf("%s/tmp/perf-%d.map", p.root(), p.innerPID()), parsePerfMap
	f, st, err := openOwned(name, p)
	if err != nil && p.looked && !p.foreign && p.jail == nil { // it has ended, and had our folders
		f, st, err = openOwned(fmt.Sprintf("/tmp/perf-%d.map", p.pid), p)
	}
	if dump := p.jitDump(); err != nil && dump != "" {
		f, st, err = openOwned(dump, p)
		parse = parseJITDump
	}
	if err != nil {
		return false
	}
	if st.Size() == p.perf.size && st.ModTime().Equal(p.perf.modified) {
		f.Close()
		return false
	}
	cut := ""
	if st.Size() > maxPerfMap {
		cut = fmt.Sprintf("the stacks of one process lack names: of %s only the first %d MB are read",
			strings.TrimPrefix(f.Name(), p.root()), maxPerfMap>>20)
	}
	p.perf.reading = until.Compute(func() *perfMap {
		defer f.Close()
		text, err := io.ReadAll(io.LimitReader(f, maxPerfMap))
		if err != nil {
			return nil
		}
		return &perfMap{functions: parse(string(text)), size: st.Size(), modified: st.ModTime(), cut: cut}
	})
	return true
}

// compiles says whether a process has memory with code of its own.
func (p *Process) compiles() bool {
	for i := range p.maps {
		if p.maps[i].anonymous() {
			return true
		}
	}
	return false
}

// openOwned opens the file if it belongs to the user of the process, or to
// root: everybody can write a file of that name to /tmp, and must not be able to
// put names into another's stacks.
func openOwned(name string, p *Process) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err == nil {
		err = checkOwner(st, p)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

func checkOwner(st os.FileInfo, p *Process) error {
	file, ok := st.Sys().(*syscall.Stat_t)
	if !ok || !st.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", st.Name())
	}
	if file.Uid == 0 {
		return nil
	}
	owner, err := os.Stat(p.dir())
	if err != nil {
		return err // of whom it was is not known any more
	}
	if process, ok := owner.Sys().(*syscall.Stat_t); !ok || file.Uid != process.Uid {
		return fmt.Errorf("%s belongs to user %d", st.Name(), file.Uid)
	}
	return nil
}

// innerPID is the number by which the process knows itself: the last of NSpid
// (proc_pid_status(5), since 4.1).
func (p *Process) innerPID() int {
	text, err := readBounded(p.dir()+"/status", 1<<16)
	if err != nil {
		return p.pid
	}
	for line := range strings.Lines(string(text)) {
		if numbers, ok := strings.CutPrefix(line, "NSpid:"); ok {
			list := strings.Fields(numbers)
			if len(list) == 0 {
				break
			}
			if pid, err := strconv.Atoi(list[len(list)-1]); err == nil {
				return pid
			}
		}
	}
	return p.pid
}

// parsePerfMap reads lines `START SIZE NAME`, numbers in hex; a name may have
// blanks. A line of another form is passed over: the last may be half written.
func parsePerfMap(text string) (out []compiled) {
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		from, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		length, name, _ := strings.Cut(rest, " ")
		start, err := strconv.ParseUint(strings.TrimPrefix(from, "0x"), 16, 64)
		if err != nil {
			continue
		}
		size, err := strconv.ParseUint(strings.TrimPrefix(length, "0x"), 16, 64)
		if err != nil || size == 0 || start+size < start || name == "" {
			continue
		}
		out = append(out, compiled{start, size, strings.Clone(name)})
	}
	// Stable: of two at one place the later comes last, and is found.
	sort.SliceStable(out, func(i, j int) bool { return out[i].start < out[j].start })
	return out
}

// jitDump is the path of the file in which the program tells of its code (the kernel's
// tools/perf/Documentation/jitdump-specification.txt), "" where there is none: the program maps it, so that it
// is found.
func (p *Process) jitDump() string {
	name := fmt.Sprintf("jit-%d.dump", p.innerPID())
	for i := range p.maps {
		if path.Base(p.maps[i].Path) == name {
			return p.root() + p.maps[i].Path
		}
	}
	return ""
}

// Records of a jitdump file, and where what they say lies in them. Each begins with its kind, its size and a time.
const (
	jitMagic      = 0x4a695444
	jitHeader     = 40 // of the file, at least: its size is in it
	jitPrefix     = 16 // of a record
	jitLoad       = 0  // a function: pid, tid, vma, address, size, number, name, the code
	jitMove       = 1  // pid, tid, vma, the old address, the new one, size, number
	jitLoadText   = jitPrefix + 40
	jitMoveLength = jitPrefix + 48
)

// parseJITDump reads records up to the first that is not whole, which may be half written.
func parseJITDump(text string) (out []compiled) {
	b := []byte(text)
	if len(b) < jitHeader {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if order.Uint32(b) != jitMagic {
		order = binary.BigEndian
	}
	header := uint64(order.Uint32(b[8:]))
	if order.Uint32(b) != jitMagic || header < jitHeader || header > uint64(len(b)) {
		return nil
	}
	known := map[uint64]int{} // by its number, where it is in out
	for b = b[header:]; len(b) >= jitPrefix; {
		kind, size := order.Uint32(b), uint64(order.Uint32(b[4:]))
		if size < jitPrefix || size > uint64(len(b)) {
			break
		}
		one := b[:size]
		b = b[size:]
		switch {
		case kind == jitLoad && size > jitLoadText:
			name, _, whole := strings.Cut(string(one[jitLoadText:]), "\x00")
			start, length := order.Uint64(one[jitPrefix+16:]), order.Uint64(one[jitPrefix+24:])
			if whole && name != "" && len(name) <= maxName && length != 0 && start+length >= start {
				known[order.Uint64(one[jitPrefix+32:])] = len(out)
				out = append(out, compiled{start, length, name})
			}
		case kind == jitMove && size >= jitMoveLength:
			i, ok := known[order.Uint64(one[jitPrefix+40:])]
			start, length := order.Uint64(one[jitPrefix+24:]), order.Uint64(one[jitPrefix+32:])
			if ok && length != 0 && start+length >= start {
				out = append(out, compiled{start, length, out[i].name})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].start < out[j].start })
	return out
}

// overlaps bounds how many earlier functions are looked at: code that was
// compiled anew may lie within the place of what was there.
const overlaps = 16

func (m *perfMap) find(addr uint64) (compiled, bool) {
	i := sort.Search(len(m.functions), func(i int) bool { return m.functions[i].start > addr })
	for back := 1; back <= overlaps && back <= i; back++ {
		if fn := m.functions[i-back]; addr-fn.start < fn.size {
			return fn, true
		}
	}
	return compiled{}, false
}
