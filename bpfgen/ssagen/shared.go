package ssagen

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// Shared is what the programs of a unit have in common. Its fields are
// complete when all programs were built.
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
	// Sites are the places that programs count at, by number.
	Sites []tree.Site
	// ConstData is the value of MapConst.
	ConstData []byte
	// Tails are the programs in MapTails, by index.
	Tails []string
	// Places is the size of MapPlaces in bytes.
	Places int
	// Uses names the maps without number that programs use.
	Uses map[string]bool

	// sites are the numbers of Sites, so that equal ones have one counter.
	sites map[tree.Site]int
	// consts are the places in ConstData of what is there.
	consts map[string]int
	// placeOffs are the places in MapPlaces, by the number of the span.
	placeOffs map[int]int64
}

// NewShared starts a unit.
func NewShared(u *tree.Unit, arch *Arch, noCmpXchg bool) *Shared {
	return &Shared{
		Tree: u, Arch: arch, NoCmpXchg: noCmpXchg, Uses: map[string]bool{},
		sites: map[tree.Site]int{}, consts: map[string]int{}, placeOffs: map[int]int64{},
	}
}

// Site gives the number of a site; equal ones share it.
func (s *Shared) Site(site tree.Site) int {
	i, ok := s.sites[site]
	if !ok {
		i = len(s.Sites)
		s.sites[site] = i
		s.Sites = append(s.Sites, site)
	}
	return i
}

// Constant gives the offset of data in MapConst, 8-byte aligned.
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

// maxSyscall bounds the bitmap.
const maxSyscall = kernel.MaxSyscall
