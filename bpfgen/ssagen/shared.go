package ssagen

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// What all programs of a unit share: numbers of sites, constants in a map.

// Shared is what the programs of a unit have in common. Those from Tree to Unwind, and what is said of names, are set
// before the first program is built. The other fields grow with each program, and are complete when all were built.
type Shared struct {
	// Tree is the unit that is compiled.
	Tree *tree.Unit
	// Arch is the machine that it is compiled for.
	Arch *Arch
	// NoCmpXchg: the kernel is older than 5.12 and has no atomics that give
	// the old value. Extremes are then kept in claimed words.
	NoCmpXchg bool
	// HasLoop: the kernel has bpf_loop (5.17).
	HasLoop bool
	// HasTaskRegs: the kernel has bpf_task_pt_regs (5.15).
	HasTaskRegs bool
	// Unwind: user stacks are walked by the tables of the programs, where there are some.
	Unwind bool
	// Sites are the places that programs count at. The index is the number of the counter in MapSites.
	Sites []tree.Site
	// ConstData is the value of MapConst.
	ConstData []byte
	// Tails are the names of the programs in MapTails, by index.
	Tails []string
	// NameRoom is the room of a text in MapNames; NamesCut: some do not have room.
	NameRoom int
	NamesCut bool
	// Places is the size of MapPlaces in bytes.
	Places int
	// Uses names the maps that exist once in a unit and that programs use: tree.MapRing and so on.
	Uses map[string]bool

	// sites has the number of each of Sites, so that equal ones have one counter.
	sites map[tree.Site]int
	// consts has the offset in ConstData of each constant that is there.
	consts map[string]int
	// placeOffs has the offset in MapPlaces of the places of each span with a key, by its number.
	placeOffs map[int]int64
}

// NewShared begins a unit. noCmpXchg says that its kernel is older than 5.12; HasLoop is the caller's to set.
func NewShared(u *tree.Unit, arch *Arch, noCmpXchg bool) *Shared {
	s := &Shared{
		Tree: u, Arch: arch, NoCmpXchg: noCmpXchg, Uses: map[string]bool{},
		sites: map[tree.Site]int{}, consts: map[string]int{}, placeOffs: map[int]int64{},
	}
	s.measureNames()
	return s
}

// Site gives the number of a site, which is that of its counter. Equal sites share one.
func (s *Shared) Site(site tree.Site) int {
	i, ok := s.sites[site]
	if !ok {
		i = len(s.Sites)
		s.sites[site] = i
		s.Sites = append(s.Sites, site)
	}
	return i
}

// Constant puts data into MapConst, if it is not there yet, and gives its offset in bytes, a multiple of 8.
func (s *Shared) Constant(data string) int64 {
	s.Uses[tree.MapConst] = true
	at, ok := s.consts[data]
	if !ok {
		at = len(s.ConstData)
		s.consts[data] = at
		s.ConstData = append(s.ConstData, data...)
		for len(s.ConstData)%8 != 0 {
			s.ConstData = append(s.ConstData, 0)
		}
	}
	return int64(at)
}

// maxSyscall bounds the numbers of system calls. The bitmap and the tables by number have so many entries.
const maxSyscall = kernel.MaxSyscall
