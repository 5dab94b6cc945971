package kernel

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sort"
	"sync"
)

// Symbols of /proc/kallsyms, and the message that it shows no addresses (kptr_restrict).

// ErrHiddenAddresses says that /proc/kallsyms shows zeros instead of addresses.
var ErrHiddenAddresses = errors.New("kernel addresses are hidden: " +
	"run with CAP_SYSLOG or set /proc/sys/kernel/kptr_restrict to 0 or 1")

// A Symbol is a function or variable of the kernel.
type Symbol struct {
	// Name is as in /proc/kallsyms.
	Name string
	// Addr is the address of its first byte.
	Addr   uint64
	Module string // "" for the kernel proper
}

// Symbols are the addresses of /proc/kallsyms, beside the text of their names. It is safe for concurrent use.
type Symbols struct {
	// addrs are ascending.
	addrs []uint64
	names []uint32 // where in texts the name of the same index is
	code  []bool   // whether that of the same index is a function
	// texts hold lines `name` or `name\tmodule`, each ended by a newline. Each has room for textBlock bytes: one that
	// grows would be there twice while it does.
	texts [][]byte

	// byNameOnce makes byName at the first search by a name.
	byNameOnce sync.Once
	byName     []int32 // indexes by name
}

// Bytes is how much memory they take.
func (s *Symbols) Bytes() int { return 13*len(s.addrs) + textBlock*len(s.texts) + 4*len(s.byName) }

// OpenSymbols reads /proc/kallsyms, which the kernel takes its time to write
// (BenchmarkOpenSymbols): only who needs them asks.
func OpenSymbols() (*Symbols, error) {
	f, err := os.Open("/proc/kallsyms")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("this kernel has no /proc/kallsyms: it was built without CONFIG_KALLSYMS")
	case err != nil:
		return nil, fmt.Errorf("read kernel symbols: %w", err)
	}
	defer f.Close()
	return ReadSymbols(f)
}

// ReadSymbols parses the text of /proc/kallsyms:
//
//	ffffffff81000000 T _stext
//	ffffffffc0201000 t nf_hook	[nf_tables]
func ReadSymbols(r io.Reader) (*Symbols, error) {
	read := symbolReader{Symbols: Symbols{addrs: make([]uint64, 0, usualSymbols),
		names: make([]uint32, 0, usualSymbols), code: make([]bool, 0, usualSymbols)}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, textBlock), textBlock)
	for lines.Scan() {
		read.line(lines.Bytes())
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read kernel symbols: %w", err)
	}
	if len(read.addrs) == 0 {
		if read.hidden {
			return nil, ErrHiddenAddresses
		}
		return nil, errors.New("/proc/kallsyms holds no symbols")
	}
	return read.symbols(), nil
}

// usualSymbols is for how many symbols there is room from the beginning: growing would copy them again and again. What
// is not needed of it goes.
const usualSymbols = 1 << 18

// textBlock is how long a text of names is at most. A line of /proc/kallsyms is no longer.
const textBlock = 1 << 16

// A symbolReader takes the symbols out of the lines of /proc/kallsyms. They are put where they stay: a copy of them
// would take as much again while they are read.
type symbolReader struct {
	Symbols
	hidden bool // an address was 0
}

func (r *symbolReader) line(line []byte) {
	addr, kind, rest, ok := splitSymbol(line)
	if !ok {
		return
	}
	r.hidden = r.hidden || addr == 0
	if addr == 0 || kind == 'A' || kind == 'a' {
		return // absolute: offsets in per-CPU data, no addresses
	}
	r.addrs = append(r.addrs, addr)
	r.names = append(r.names, r.name(rest))
	r.code = append(r.code, kind|0x20 == 't' || kind|0x20 == 'w')
}

// name puts a name into the last text, or into another one if it has no room there, and gives its place.
func (r *symbolReader) name(line []byte) uint32 {
	last := len(r.texts) - 1
	if last < 0 || len(r.texts[last])+len(line)+1 > textBlock {
		r.texts = append(r.texts, make([]byte, 0, textBlock))
		last++
	}
	at := len(r.texts[last])
	r.texts[last] = append(append(r.texts[last], line...), '\n')
	return uint32(last*textBlock + at)
}

// symbols orders what was read. The kernel gives its own symbols by their addresses, but those of modules as the
// modules were loaded.
func (r *symbolReader) symbols() *Symbols {
	sort.Sort(r)
	s := &Symbols{addrs: r.addrs, names: r.names, code: r.code, texts: r.texts}
	if cap(s.addrs) > len(s.addrs)/4*5 {
		s.addrs, s.names, s.code = slices.Clone(s.addrs), slices.Clone(s.names), slices.Clone(s.code)
	}
	return s
}

// Len, Less and Swap are for the order of addresses, and of the kernel's at one address.
func (r *symbolReader) Len() int { return len(r.addrs) }

// Less compares addresses, then places in the text.
func (r *symbolReader) Less(i, j int) bool {
	if r.addrs[i] == r.addrs[j] {
		return r.names[i] < r.names[j]
	}
	return r.addrs[i] < r.addrs[j]
}

// Swap swaps two symbols.
func (r *symbolReader) Swap(i, j int) {
	r.addrs[i], r.addrs[j] = r.addrs[j], r.addrs[i]
	r.names[i], r.names[j] = r.names[j], r.names[i]
	r.code[i], r.code[j] = r.code[j], r.code[i]
}

// splitSymbol takes a line apart.
func splitSymbol(line []byte) (addr uint64, kind byte, rest []byte, ok bool) {
	at := 0
	for ; at < len(line) && at <= 16; at++ {
		digit := digits[line[at]]
		if digit == 0 {
			break
		}
		addr = addr<<4 | uint64(digit-1)
	}
	if at < 1 || at > 16 || len(line) < at+4 || line[at] != ' ' || line[at+2] != ' ' {
		return 0, 0, nil, false
	}
	return addr, line[at+1], line[at+3:], true
}

// digits has one more than what a hexadecimal digit is worth, 0 for what is none.
var digits = [256]byte{'0': 1, '1': 2, '2': 3, '3': 4, '4': 5, '5': 6, '6': 7, '7': 8, '8': 9, '9': 10,
	'a': 11, 'b': 12, 'c': 13, 'd': 14, 'e': 15, 'f': 16, 'A': 11, 'B': 12, 'C': 13, 'D': 14, 'E': 15, 'F': 16}

// at gives the symbol of index i.
func (s *Symbols) at(i int) Symbol {
	name, module := s.parts(i)
	return Symbol{Name: string(name), Addr: s.addrs[i], Module: string(module)}
}

// parts are the name and the module of a symbol.
func (s *Symbols) parts(i int) (name, module []byte) {
	name, module = s.line(i)
	return name, bytes.TrimSuffix(bytes.TrimPrefix(module, []byte{'['}), []byte{']'})
}

// textFrom is the text from the name of a symbol on.
func (s *Symbols) textFrom(i int) []byte { return s.texts[s.names[i]/textBlock][s.names[i]%textBlock:] }

func (s *Symbols) line(i int) (name, module []byte) {
	line := s.textFrom(i)
	line = line[:bytes.IndexByte(line, '\n')]
	name, module, _ = bytes.Cut(line, []byte{'\t'})
	return name, module
}

// largestSymbol bounds what a symbol may span, of which the kernel says only where it begins: an address further behind
// the last one of a module, or of all, is in none.
const largestSymbol = 16 << 20

// Find gives the symbol in which addr lies and addr's offset in it. Several
// symbols of one address: the first in the kernel's order.
func (s *Symbols) Find(addr uint64) (sym Symbol, offset uint64, ok bool) {
	i := sort.Search(len(s.addrs), func(i int) bool { return s.addrs[i] > addr }) - 1
	if i < 0 || addr>>63 == 0 || addr-s.addrs[i] > largestSymbol {
		return Symbol{}, 0, false
	}
	for i > 0 && s.addrs[i-1] == s.addrs[i] {
		i--
	}
	return s.at(i), addr - s.addrs[i], true
}

// SizeAt is how many bytes the symbol has in which addr lies: up to the next one of the same module. It is 0 where
// there is none, because the kernel does not say where the last one ends.
func (s *Symbols) SizeAt(addr uint64) uint64 {
	sym, _, ok := s.Find(addr)
	next := sort.Search(len(s.addrs), func(i int) bool { return s.addrs[i] > addr })
	if !ok || next == len(s.addrs) || s.at(next).Module != sym.Module {
		return 0
	}
	return s.addrs[next] - sym.Addr
}

// Addr gives the address of a symbol by its name. Static functions can share
// a name: it is the one with the lowest address.
func (s *Symbols) Addr(name string) (uint64, bool) {
	s.byNameOnce.Do(s.indexNames)
	want := []byte(name)
	i := sort.Search(len(s.byName), func(i int) bool {
		n, _ := s.line(int(s.byName[i]))
		return bytes.Compare(n, want) >= 0
	})
	if i == len(s.byName) {
		return 0, false
	}
	if n, _ := s.line(int(s.byName[i])); !bytes.Equal(n, want) {
		return 0, false
	}
	return s.addrs[s.byName[i]], true
}

// sameCode gives all names of the code that has a name, and its module.
func (s *Symbols) sameCode(name string) (names []string, module string, found bool) {
	addr, ok := s.Addr(name)
	if !ok {
		return nil, "", false
	}
	for i := sort.Search(len(s.addrs), func(i int) bool { return s.addrs[i] >= addr }); i < len(s.addrs) &&
		s.addrs[i] == addr; i++ {
		if !s.code[i] {
			continue
		}
		sym := s.at(i)
		names = append(names, sym.Name)
		if sym.Name == name {
			module, found = sym.Module, true
		}
	}
	return names, module, found
}

func (s *Symbols) indexNames() {
	s.byName = make([]int32, len(s.addrs))
	for i := range s.byName {
		s.byName[i] = int32(i)
	}
	slices.SortStableFunc(s.byName, func(a, b int32) int {
		x, _ := s.line(int(a))
		y, _ := s.line(int(b))
		return bytes.Compare(x, y)
	})
}
