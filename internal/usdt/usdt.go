// Package usdt reads static probes of user programs: the notes that
// systemtap's <sys/sdt.h> and its likes leave in ELF files, and the places of
// their arguments.
//
// The result is plain data: where to place uprobes, what counter to raise,
// and for each argument a constant, a register of struct pt_regs, or an
// address made of registers. Nothing here runs or opens anything.
package usdt

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/naming"
)

// The static probes of a file, matched by `provider:name`.

// A StaticProbe is a static probe of a file, which Provider and Name name together. A macro that is used in several
// places or in an inlined function gives several Places, each with its own places of the arguments.
type StaticProbe struct {
	Provider, Name string
	Places         []Place
}

// A Place is one place of a probe.
type Place struct {
	Addr   uint64 // in the file
	Offset uint64 // of the nop, in the file: the place of the uprobe
	// Semaphore is the place in the file of a counter of 2 bytes: the program
	// prepares arguments only while it is not 0. As ref_ctr_offset of a uprobe
	// the kernel (4.20) counts. 0 if there is none.
	Semaphore uint64
	// Text describes the arguments as the note does, Args as they were read.
	Text string
	Args []Operand
}

// Args gives how many arguments the probe has; sites of one probe may differ.
func (p *StaticProbe) Args() int {
	most := 0
	for _, s := range p.Places {
		most = max(most, len(s.Args))
	}
	return most
}

// noteType is that of version 3, the only one in use (systemtap's wiki,
// UserSpaceProbeImplementation).
const noteType = 3

// Read gives the probes of a file by provider and name, each with its sites
// by address; none if it has none. A note that cannot be read is an error,
// an argument only in itself.
func Read(f *elffile.File) ([]StaticProbe, error) {
	notes, err := f.Notes(".note.stapsdt")
	if err != nil {
		return nil, err
	}
	if len(notes) == 0 {
		return nil, nil
	}
	base, hasBase, err := f.Section(".stapsdt.base")
	if err != nil {
		return nil, err
	}
	reader := reader{file: f, base: base.Addr, hasBase: hasBase}
	for _, n := range notes {
		if n.Name != "stapsdt" || n.Type != noteType {
			continue
		}
		if err := reader.add(n.Desc); err != nil {
			return nil, fmt.Errorf("%s: .note.stapsdt: %w", f.Path, err)
		}
	}
	return reader.group(), nil
}

type reader struct {
	file    *elffile.File
	base    uint64
	hasBase bool
	symbols map[string]uint64 // of variables that arguments name; nil until needed
	found   []named
}

type named struct {
	provider, name string
	site           Place
}

func (r *reader) add(desc []byte) error {
	n, err := parseNote(desc, r.file.ByteOrder(), r.file.Is32)
	if err != nil {
		return err
	}
	// Prelinking moves a program and rewrites its sections, but not notes: the
	// section .stapsdt.base moves along and shows by how much.
	if r.hasBase && n.base != 0 {
		shift := r.base - n.base
		n.addr += shift
		if n.semaphore != 0 {
			n.semaphore += shift
		}
	}
	site := Place{Addr: n.addr, Text: n.args}
	var ok bool
	if site.Offset, ok = r.file.Offset(n.addr); !ok {
		return fmt.Errorf("probe %s:%s at %#x is not in the file", n.provider, n.name, n.addr)
	}
	if n.semaphore != 0 {
		if site.Semaphore, ok = r.file.Offset(n.semaphore); !ok {
			return fmt.Errorf("the semaphore of probe %s:%s at %#x is not in the file", n.provider, n.name, n.semaphore)
		}
	}
	site.Args = ParseOperands(Program{archOf(r.file), r.file.Moves(), r.variable}, n.args, n.addr)
	r.found = append(r.found, named{n.provider, n.name, site})
	return nil
}

func archOf(f *elffile.File) string {
	switch f.Machine {
	case elf.EM_X86_64, elf.EM_386:
		return "amd64"
	case elf.EM_AARCH64:
		return "arm64"
	}
	return ""
}

// variable gives the address of a symbol that an argument names.
func (r *reader) variable(name string) (uint64, bool) {
	if r.symbols == nil {
		r.symbols = r.file.Variables()
	}
	addr, ok := r.symbols[name]
	return addr, ok
}

func (r *reader) group() []StaticProbe {
	slices.SortStableFunc(r.found, func(a, b named) int {
		return cmp.Or(cmp.Compare(a.provider, b.provider), cmp.Compare(a.name, b.name),
			cmp.Compare(a.site.Addr, b.site.Addr))
	})
	var out []StaticProbe
	for _, n := range r.found {
		if last := len(out) - 1; last >= 0 && out[last].Provider == n.provider && out[last].Name == n.name {
			out[last].Places = append(out[last].Places, n.site)
			continue
		}
		out = append(out, StaticProbe{n.provider, n.name, []Place{n.site}})
	}
	return out
}

// Find gives the probes that match `name` or `provider:name`, both patterns.
// DTrace's probes are written with `-` and compiled to `__`; both find both.
func Find(probes []StaticProbe, pattern string) ([]StaticProbe, error) {
	provider, name, both := strings.Cut(pattern, ":")
	if !both {
		provider, name = "*", pattern
	}
	providers, err := naming.Compile(dashes(provider))
	if err != nil {
		return nil, err
	}
	names, err := naming.Compile(dashes(name))
	if err != nil {
		return nil, err
	}
	var out []StaticProbe
	for _, p := range probes {
		if matches(providers, p.Provider) && matches(names, p.Name) {
			out = append(out, p)
		}
	}
	return out, nil
}

// dashes writes one form: `__` for a `-` that is not in a set of characters.
func dashes(text string) string {
	var out strings.Builder
	set := false
	for _, c := range []byte(text) {
		switch {
		case c == '[':
			set = true
		case c == ']':
			set = false
		case c == '-' && !set:
			out.WriteByte('_')
			c = '_'
		}
		out.WriteByte(c)
	}
	return out.String()
}

// matches tries the name as it is, for patterns with sets, and in the one form.
func matches(glob naming.Glob, name string) bool { return glob.Match(name) || glob.Match(dashes(name)) }
