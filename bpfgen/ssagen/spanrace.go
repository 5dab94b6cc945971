package ssagen

import (
	"math/bits"

	"github.com/startrace/startrace/bpfgen/ir"
	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// Starts and ends of one key at the same time on two CPUs.
//
// An end of a span with a key looks its entry up, copies it and deletes it. If
// no start of that key came in between, what was deleted is what was looked up:
// had another end taken it, nothing would have been there to delete. Then it was
// in the map all the time, nobody else has it, and the copy is whole. If a start
// came in between, one start is gone, nobody knows which, and it is counted.
//
// Locks are not for tracing programs, and an entry's memory serves another key
// as soon as it is deleted, so a word in it proves nothing. Starts therefore
// leave a mark at a place that the hash of the key gives, of two words:
//
//	begun   0–31 how many starts came here, 32–63 the sum of their tags
//	flying  0–7 how many of them are at their update, 8–63 the sum of their tags
//
// The tag is another part of the hash, so that a single start of another key at
// the same place is known for what it is. Two starts at one place within one end
// are taken for the key's own, which is one in 1e9 even if each CPU is busy with
// nothing else.
//
// Order: a start adds to flying, then to begun, updates, and takes itself out of
// flying. An end reads begun, then flying, looks up, deletes, and reads begun
// again. A start whose update came between look-up and delete had begun before
// the delete got the bucket's lock. If the first reading of begun had it, then
// flying had it too, or its update was over. On amd64 all of this happens in the
// order of the program; arm64 needs barriers, which there are from 5.12 on
// (OpCmpXchg64 is one).

// A place has placeSize bytes. Its words are at placeBegun and placeFly; the other constants say what is where in them.
const (
	placeSize  = 16
	placeBegun = 0
	placeFly   = 8

	beganOne = 1
	tagInSum = 32 // shift of the tag in begun
	flyOne   = 1
	tagInFly = 8 // shift of the tag in flying
	flyCount = 0xff
)

// minPlaces and maxPlaces bound the places of a span; there are as many as
// entries in between.
const (
	minPlaces = 1 << 10
	maxPlaces = 1 << 16
)

// A racePlace is the place of a key in MapPlaces: the address at is that of its two words, and tag has 32 bits of the
// hash.
type racePlace struct{ at, tag *ir.Value }

// races tells starts and ends of one key on two CPUs apart.
type races struct{ *code }

// places gives the offset of a span's places in MapPlaces and the bits of their
// number.
func (s *Shared) places(n int) (off int64, log int) {
	size := s.Tree.Spans[n].Size
	if size == 0 {
		size = plan.DefaultSize
	}
	log = bits.Len(uint(min(max(size, minPlaces), maxPlaces) - 1))
	off, ok := s.placeOffs[n]
	if !ok {
		s.Uses[tree.MapPlaces] = true
		off = int64(s.Places)
		s.placeOffs[n] = off
		s.Places += placeSize << log
	}
	return off, log
}

// racePlace finds the place of the key.
func (b races) racePlace(span *tree.Span, key *region) racePlace {
	const golden = -0x61c8864680b583eb // 2^64 divided by the golden ratio
	size := int64(layout.Fixed(span.Key).Size)
	hash := b.Const(0)
	for off := int64(0); off+8 <= size; off += 8 {
		word := b.Load(8, b.addr(key, off), 0)
		hash = b.Op(ir.OpMul, b.Op(ir.OpXor, hash, word), b.Const(golden))
	}
	off, log := b.places(b.prog.Attach.Span)
	at := b.Imm(ir.OpShl, b.Imm(ir.OpLShr, hash, int64(64-log)), 4)
	tag := b.Imm(ir.OpLShr, b.Imm(ir.OpShl, hash, int64(log)), 32)
	return racePlace{b.Op(ir.OpAdd, b.MapValue(tree.MapPlaces, off), at), tag}
}

// startBegins marks a start before its update.
func (b races) startBegins(p racePlace) {
	b.Op(ir.OpAtomicAdd64, b.Add(p.at, placeFly), b.flying(p))
	b.fence(p)
	b.Op(ir.OpAtomicAdd64, b.Add(p.at, placeBegun), b.Imm(ir.OpAdd, b.Imm(ir.OpShl, p.tag, tagInSum), beganOne))
}

// startDone takes the mark of a start in progress away.
func (b races) startDone(p racePlace) {
	b.fence(p)
	b.Op(ir.OpAtomicAdd64, b.Add(p.at, placeFly), b.Op(ir.OpNeg, b.flying(p)))
}

// flying is what one start of the key adds to the word flying.
func (b races) flying(p racePlace) *ir.Value {
	return b.Imm(ir.OpAdd, b.Imm(ir.OpShl, p.tag, tagInFly), flyOne)
}

// fence is a full barrier where the machine needs one.
func (b races) fence(p racePlace) {
	if b.Arch == ARM64 && !b.NoCmpXchg {
		b.Op(ir.OpCmpXchg64, b.Add(p.at, placeFly), b.Const(0), b.Const(0))
	}
}

// beforeLookup gives what raced compares with: begun and flying.
func (b races) beforeLookup(p racePlace) [2]*ir.Value {
	begun := b.Load(8, p.at, placeBegun)
	b.fence(p)
	flying := b.Load(8, p.at, placeFly)
	b.fence(p)
	return [2]*ir.Value{begun, flying}
}

// raced is 1 if a start of the key may have come since beforeLookup.
func (b races) raced(p racePlace, seen [2]*ir.Value) *ir.Value {
	since := b.Op(ir.OpSub, b.Load(8, p.at, placeBegun), seen[0])
	sum := b.Imm(ir.OpLShr, since, tagInSum)
	began := b.mayBe(p, b.Extend(since, 32, false), sum)
	// The count that overflows adds 1 to the sum.
	began = b.Op(ir.OpOr, began, b.Cmp(ir.EQ, b.Imm(ir.OpSub, sum, 1), p.tag))
	flew := b.mayBe(p, b.Imm(ir.OpAnd, seen[1], flyCount), b.Imm(ir.OpLShr, seen[1], tagInFly))
	return b.Op(ir.OpOr, began, flew)
}

// mayBe is 1 if the key's own start may be among count starts whose tags are
// sum together.
func (b races) mayBe(p racePlace, count, sum *ir.Value) *ir.Value {
	several := b.Cmp(ir.UGT, count, b.Const(1))
	own := b.Op(ir.OpAnd, b.Cmp(ir.EQ, count, b.Const(1)), b.Cmp(ir.EQ, sum, p.tag))
	return b.Op(ir.OpOr, several, own)
}
