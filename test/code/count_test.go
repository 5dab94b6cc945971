package code

import (
	"testing"

	"github.com/cilium/ebpf/asm"

	"github.com/startrace/startrace/bpfgen/tree"
)

// countingInsns is the number of raw instructions that run only when
// something goes wrong: the basic blocks that add to a site, those that lead
// nowhere else, and those in which a string that could not be read, or that
// was too long, is marked as such.
func countingInsns(insns asm.Instructions) int {
	blocks := basicBlocks(insns)
	for changed := true; changed; {
		changed = false
		for i := range blocks {
			b := &blocks[i]
			if !b.counting && b.leadsToCounting(blocks) {
				b.counting, changed = true, true
			}
		}
	}
	n := 0
	for _, b := range blocks {
		if b.counting {
			n += b.size
		}
	}
	return n
}

type basicBlock struct {
	size     int // raw instructions
	next     []int
	counting bool
}

func (b *basicBlock) leadsToCounting(blocks []basicBlock) bool {
	for _, n := range b.next {
		if !blocks[n].counting {
			return false
		}
	}
	return len(b.next) > 0
}

// basicBlocks cuts a program at its jumps and their targets.
func basicBlocks(insns asm.Instructions) []basicBlock {
	starts, raw := map[int]bool{0: true}, 0
	for _, ins := range insns {
		raw += int(ins.Size()) / 8
		if jumps(ins) {
			starts[raw] = true
			if ins.OpCode.JumpOp() != asm.Exit {
				starts[raw+int(ins.Offset)] = true
			}
		}
	}
	var blocks []basicBlock
	at := map[int]int{} // block by its first raw instruction
	raw = 0
	for _, ins := range insns {
		if starts[raw] {
			at[raw] = len(blocks)
			blocks = append(blocks, basicBlock{})
		}
		raw += int(ins.Size()) / 8
		blocks[len(blocks)-1].size += int(ins.Size()) / 8
	}
	var failed []int
	i, raw, reading := -1, 0, false
	for _, ins := range insns {
		if starts[raw] {
			i++
		}
		raw += int(ins.Size()) / 8
		b := &blocks[i]
		b.counting = b.counting || ins.Reference() == tree.MapSites
		reading = reading && testsResult(ins) || readsMemory(ins)
		if reading && jumps(ins) {
			failed = append(failed, raw+int(ins.Offset))
		}
		if jumps(ins) && ins.OpCode.JumpOp() != asm.Exit {
			b.next = append(b.next, at[raw+int(ins.Offset)])
		}
		if starts[raw] && (!jumps(ins) || ins.OpCode.JumpOp() != asm.Ja && ins.OpCode.JumpOp() != asm.Exit) {
			b.next = append(b.next, i+1)
		}
	}
	for _, raw := range failed {
		blocks[at[raw]].counting = true
	}
	return blocks
}

// readsMemory: the helpers probe_read_{user,kernel}{,_str}.
func readsMemory(ins asm.Instruction) bool {
	return ins.IsBuiltinCall() && ins.Constant >= int64(asm.FnProbeReadUser) &&
		ins.Constant <= int64(asm.FnProbeReadKernelStr)
}

// testsResult: a conditional jump by what a helper returned.
func testsResult(ins asm.Instruction) bool {
	op := ins.OpCode.JumpOp()
	return jumps(ins) && op != asm.Ja && op != asm.Exit && ins.Dst == asm.R0
}

func jumps(ins asm.Instruction) bool {
	return ins.OpCode.Class().IsJump() && ins.OpCode.JumpOp() != asm.Call
}

func TestCountingInsns(t *testing.T) {
	site := asm.LoadMapValue(asm.R5, 0, 0).WithReference(tree.MapSites)
	insns := asm.Instructions{
		asm.Mov.Imm(asm.R0, 0),
		{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.JNE).SetSource(asm.ImmSource), Dst: asm.R1, Offset: 1},
		// to the test
		asm.Return(),
		{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.JEq).SetSource(asm.ImmSource), Dst: asm.R1, Offset: 4},
		// only between two sites
		site, // two
		asm.StoreXAdd(asm.R5, asm.R4, asm.DWord),
		{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Ja), Offset: -6},
		site,
		asm.StoreXAdd(asm.R5, asm.R4, asm.DWord),
		{OpCode: asm.OpCode(asm.JumpClass).SetJumpOp(asm.Ja), Offset: -10},
	}
	if got, want := countingInsns(insns), 1+4+4; got != want {
		t.Errorf("%d, want %d", got, want)
	}
}
