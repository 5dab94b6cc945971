// Package tree is the typed form of kernel halves: what inference makes of
// the script's syntax trees, and what is built into SSA.
//
// In a tree everything is resolved: names are local variables or constants,
// fields are loads at offsets, calls of the script's functions are inlined
// blocks, truth and equality are explicit operators, and each expression has
// a type. Control flow is still structured. One Program of the tree becomes
// one eBPF program.
//
// A value whose type is Tagged has a tag beside it: TagPresent, TagNone or
// TagFault. Composite values (tuples, records) are lists of components and
// never live in memory by themselves.
package tree

import (
	"slices"

	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// The types of trees: Unit, Program, Block, Stmt, Expr, Container, Span, Variant.

// The tags of Tagged values.
const (
	TagPresent = wire.TagPresent
	TagNone    = wire.TagNone
	TagFault   = wire.TagFault
)

// An Expr is a typed expression.
type Expr struct {
	// Op says what is computed. It decides what the other fields mean.
	Op Op
	// Type is that of the result.
	Type types.Type
	// Args are the operands, evaluated from the left to the right.
	Args []*Expr
	// Int is a constant, an offset, a local, an element or a container's
	// number: see Op.
	Int int64
	// Str is a string constant or the name of a builtin or member.
	Str string
	// Bit and BitSize locate a bit-field of OpLoad below Int; BitSize 0: none.
	Bit, BitSize uint8
	// Edge says of OpStr that nothing behind the bytes that it may have need be readable: cstr(p, n).
	Edge bool
	// Counted says of OpStr that the second operand is the number of bytes that the string has.
	Counted bool
	// Field names what an operation reads from memory, for people: "struct task_struct.pid", "args.filename"; "" where
	// the script gave the address.
	Field string
	// Part says that the result is a field as it was read, though of a word that has more than this field: a member
	// of a struct in registers.
	Part bool
	// Body is the block of OpInline.
	Body *Block
	// Pos is the place in the script, for the lines of instructions and for what is counted here.
	Pos plan.Pos
}

// A Block is a list of statements, Stmts, which run one after the other.
type Block struct{ Stmts []*Stmt }

// A Stmt is a statement.
type Stmt struct {
	// Op says what is done. It decides what the other fields mean.
	Op StmtOp
	// Exprs are the operands, evaluated from the first to the last.
	Exprs []*Expr
	// Int is a local, container, inline or record number: see StmtOp.
	Int int64
	// Str is an operator, a member of a group, a function's name, or a bound: see StmtOp.
	Str string
	// Then and Else are the blocks inside: the ways of an SIf, and in Then the body of an SFor or an SCall.
	Then, Else *Block
	// ByKernel: the kernel runs an SFor by itself (bpf_loop), if it can.
	ByKernel bool
	// Pos is the place in the script, for the lines of instructions and for what is counted here.
	Pos plan.Pos
}

// Space says what kind of memory an OpLoad or OpStr reads.
type Space = string

// The spaces. Auto decides at run time by the address: user addresses lie
// below the kernel half (TASK_SIZE_MAX).
const (
	Kernel Space = "kernel"
	User   Space = "user"
	Auto   Space = "auto"
	Ctx    Space = "ctx" // the program's context: a direct load, never a fault
)

// A Program is one eBPF program of a probe.
type Program struct {
	Name string // unique; the symbol of the program
	// Probe is the plan's probe that the program serves, -1 for none.
	Probe int
	// Part is the number of the probe's point or pattern that the program is for, in the order of the script. event()
	// has a function for each, which run in that order where the points are one.
	Part int
	// Beside: it only counts what the probe's other programs do not see. Its runs are none of the probe's.
	Beside bool
	// Attach says at what the program is attached, and so what its context is. A Tail has that of the programs that
	// jump to it.
	Attach Attach
	// Locals are the variables of the whole program, with those of the functions that are inlined; OpLocal and SAssign
	// name them by index.
	Locals []Local
	// Inlines is the number of OpInline labels used.
	Inlines int
	// Body is what the program does; nil where it has Variants.
	Body *Block
	// Variants is set instead of Body where the program does something else
	// for some system calls: the first variant whose Syscalls hold the number
	// runs, none: the program ends. A nil Syscalls is every number.
	Variants []Variant
	// Tail: other programs jump here (Variant.Call). It is loaded and not
	// attached, and filters nothing. bpfgen.Generate makes such programs.
	Tail bool
	// Code is the name of the program whose instructions this one runs at its own place, "" where it has its own.
	// bpfgen.Generate says so.
	Code string
	// Written are the loops of which each round stands in the tree for itself, without those inside others.
	Written []WrittenLoop
	// Rollable are those of them, and of those inside others, that could be an SFor each, where they are too large.
	Rollable []plan.Pos
}

// A WrittenLoop is a loop that was written out.
type WrittenLoop struct {
	// Pos is that of the for statement.
	Pos    plan.Pos
	Rounds int // with those of the loops inside it
	Exprs  int // the expressions in it
}

// A Variant is the body for some system calls.
type Variant struct {
	Syscalls []int // sorted numbers
	// Body is what is done for these calls; nil where Call names another program.
	Body *Block
	// Call names the program that goes on instead of Body, "" for none.
	Call string
}

// Numbers gives the system calls of all variants, sorted; nil if one is for
// all.
func (p *Program) Numbers() []int {
	var out []int
	for _, v := range p.Variants {
		if v.Syscalls == nil {
			return nil
		}
		out = append(out, v.Syscalls...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// A Local is a variable of a program.
type Local struct {
	// Name is the variable's in the script, "" for one that the compiler made. Names need not differ.
	Name string
	// Type is that of all values that the variable holds, joined.
	Type types.Type
}

// A Span is the state that is kept between the start and the end of a call:
// one entry a thread in a hash map.
type Span struct {
	// Probe is the number of the plan's probe that the span belongs to.
	Probe int
	// Plan is the script's span; nil for those of system calls and functions.
	Plan *plan.Span
	// Slots are the values kept: what OpSpanSlot reads and SpanStart stores.
	Slots []types.Type
	// Names are the paths by which the script asks for them, or Unnamed.
	Names []string
	// Numbered: the first slot has the number of the start point.
	Numbered bool
	// Kept says what items() shows of the calls of each way to start, by the number in the first slot. Where the span
	// is not Numbered all starts keep the same, which is the first. It is nil where Names say all.
	Kept []Kept
	Size int // entries
	// Key is the type of the key of span(start, end, key=); Bot: the thread.
	// Entries of a keyed span are deleted when they end.
	Key types.Type
	// First keeps the first of several starts with the same key; else the last
	// one wins. Either way the other is counted (SiteOpenStart).
	First bool
	// Check are registers, by their offset in pt_regs, that a system call leaves
	// as they were: they must be the same at the start and at the end. It is set
	// on kernels where both an end and the next start can be missed, so that an
	// old start would meet a new end. Exempt are the numbers of calls that
	// change all registers (execve).
	Check  []int
	Exempt []int
	// Timeout, if not 0, is the age in ns from which an entry no longer pairs:
	// its end counts as one without a start.
	Timeout int64
	// Ends: an end counts as one without a start also on a thread that never had a start. The first end of such a
	// thread does not count: it may be that of a call that began before the tracing, or a child's return from fork.
	Ends bool
	// Muted: the last of a start's expressions says whether the start is of a process that is not traced. Its end can
	// be an event all the same. But the start is not shown among those that are open, and not counted where it is lost.
	Muted bool
	// Filtered: ends without a start are not counted, so each start that finds no room is.
	Filtered bool
	// Pos is where the span was declared.
	Pos plan.Pos
	// Nested keeps the entries of calls by thread and depth (SSpanEnter): the
	// calls of functions nest, those of the system do not.
	Nested bool
	// User: the calls are those of functions of programs. They are over when the process runs another program.
	User bool
	// MaxDepth is how many calls of one stack are seen to end, 0: all.
	MaxDepth int
	// Syscalls are the numbers that the span covers, sorted; nil for all but those in Except.
	Syscalls []int
	// Except are numbers that a span of all system calls does not cover.
	Except []int
	// NoReturn are the numbers that fire at the start and open no entry.
	NoReturn []int
}

// A Kept is what items() shows of the calls that began in one way: fields of two starts may have one name and another
// width, and so another slot, and some starts have a field that others have not.
type Kept struct {
	// Names are those of the slots that these starts fill, by slot, or Unnamed.
	Names []string
	// Known are the texts that are the same at all of these calls, and so need no slot: e.start.func of one function.
	Known map[string]string
}

// Names of slots, which a script asks for by words of the program that is traced.
const (
	Unnamed = ""  // what the script has no name for
	Inner   = "." // before the path of something in a field of the event, as ".args.p.pid"
)

// A Unit is all that is compiled together.
type Unit struct {
	// Programs are those of all probes. bpfgen.Generate appends what spans and variants need besides.
	Programs []*Program
	// Spans are those of all probes; Attach.Span and OpSpanSlot name them by index.
	Spans []*Span
	// Records are the events that programs send, by number.
	Records []*wire.Record
	// Keep is how many events each of these probes keeps, by the probe's number: they
	// go to its KeepMap, not to the ring.
	Keep map[int]int
	// Containers are the plan's containers with their inferred types, in the
	// order of plan.Containers; an entry is nil where no kernel half uses it.
	Containers []*Container
	// Several: later units add to them, too, in ways that are not known yet.
	Several bool
	// Target is the processes that the run concerns, which programs ask for first.
	Target plan.Target
	// Points are the points of a probe, by its number, where its programs know
	// them by cookie.
	Points map[int][]Point
	// Names are those of functions and points that programs keep as numbers below
	// 0: see NameOf. Those of units before are the same.
	Names []string
	// StackFrames is the room for addresses in an entry of MapStacks.
	StackFrames int
	// KernelStacks: some of them are of the kernel. UserStacks: some are of programs.
	KernelStacks, UserStacks bool
	// Walk has what walks along user stacks need of this kernel. What is not known is 0.
	Walk WalkOffsets
	// Stacks is how many stacks MapStacks has room for, 0: the default.
	Stacks int
	// Path has what OpPath needs of this kernel; nil where no program uses it.
	Path *PathOffsets
	// Compat is how a call of the 32-bit interface is known; nil where the kernel's types do not tell it.
	Compat *CompatMark
	// TaskProcess is the offset in struct task_struct of the number of its process; 0: it is not known.
	TaskProcess int64
	// X32: the kernel has the calls of x32.
	X32 bool
	// StrMax is the limit of strings in bytes.
	StrMax int
}

// WalkOffsets are places in structs of the kernel, in bytes.
type WalkOffsets struct {
	// KernelStack is the pointer to a task's kernel stack in struct task_struct. Registers bytes behind its begin lie
	// the registers with which the task came into the kernel.
	KernelStack, Registers int64
	// MM is the pointer to a task's memory in struct task_struct. StartCode and EndCode are where its code begins and
	// ends, StartStack where its stack begins, in struct mm_struct.
	MM, StartCode, EndCode, StartStack int64
	// Parent is the pointer to the task of the process that a task's process is a child of, and TGID the number of a
	// task's process, in struct task_struct.
	Parent, TGID int64
	// Utask is the pointer to what uprobes know of the task, in struct task_struct. Instances is the pointer there to
	// the innermost call whose return address the kernel has replaced.
	Utask, Instances int64
	// Copy is where the copy of an instruction lies that the thread steps through, 0: it does not, and Copied where the
	// instruction itself lies, in struct uprobe_task.
	Copy, Copied int64
	// InstanceStack is where such a call begins on the stack, InstanceReturn its return address, and InstanceNext the
	// pointer to the call around it, in struct return_instance.
	InstanceStack, InstanceReturn, InstanceNext int64
	// Thread is the address by which the thread finds its own variables, in struct task_struct.
	Thread int64
	// Area has what finds the file that is mapped at an address; nil: it is not known.
	Area *AreaOffsets
}

// AreaOffsets are the places, in bytes, of what leads from a part of a program's memory to the file that is mapped
// there.
type AreaOffsets struct {
	// Start is the first address, End the one behind the last, Place what part of the file lies there, in pages, and
	// Flags what may be done with it, in struct vm_area_struct.
	Start, End, Place, Flags int
	// Ops is the pointer to functions of the kernel's that care for it, and File the pointer to the open file, in
	// struct vm_area_struct.
	Ops, File int
	// MM is the pointer to the memory that it is part of, in struct vm_area_struct, and VDSO where the kernel has put
	// its own code there, in struct mm_struct.
	MM, VDSO int
	// Inode is the pointer to the file itself, in struct file.
	Inode int
	// Number is that of the inode, Super the pointer to its file system, and Size that of the file, in struct inode.
	Number, Super, Size int
	// Seconds and Nano are when the file was changed, in struct inode.
	Seconds, Nano int
	// Device is the number of the device, in struct super_block.
	Device int
}

// Records reports whether it is known where the kernel keeps return addresses that it has replaced.
func (w *WalkOffsets) Records() bool { return w.Utask != 0 && w.InstanceReturn != 0 }

// Steps reports whether it is known where the kernel keeps what instruction a thread steps through a copy of.
func (w *WalkOffsets) Steps() bool { return w.Utask != 0 && w.Copy != 0 && w.Copied != 0 }

// A CompatMark is a word of 4 bytes at Offset, in bytes, in struct task_struct. While the thread is in a system call of
// the 32-bit interface, the bits of Mask in that word are not 0.
type CompatMark struct{ Offset, Mask int64 }

// PathOffsets are the places, in bytes, of what a walk from a file to the root
// reads (see docs of OpPath; include/linux/fs.h, dcache.h, fs/mount.h).
type PathOffsets struct {
	FilePath                                int // struct file: f_path
	PathMnt, PathDentry                     int // struct path
	DentryParent, DentryName, DentryNameLen int // struct dentry: d_parent, d_name.name, d_name.len
	DentryInode, DentryPprev                int // d_inode, d_hash.pprev
	InodeMode, InodeIno, InodeSb, SbMagic   int // struct inode: i_mode, i_ino, i_sb; super_block: s_magic
	InodePrivate, NsOps, NsOpsName          int // i_private of nsfs: struct ns_common: ops, its name
	MountMnt, MountParent, MountMountpoint,
	VfsmountRoot int // struct mount: mnt, mnt_parent, mnt_mountpoint; vfsmount: mnt_root
}

// A Container is a container of the plan with the types of its uses.
type Container struct {
	*plan.Container
	// Key is None for an unkeyed aggregation or a cell.
	Key types.Type
	// Present says of each position of keys in the script whether it is there:
	// what is None wherever the container is used is not.
	Present []bool
	// Value is what a table or cell holds; unused for aggregations.
	Value types.Type
	// KeyLayout and ValueLayout are how maps store them; KeyLayout is nil for
	// an unkeyed container, ValueLayout for an aggregation, which has Agg.
	// bpfgen.Generate fills what is not set.
	KeyLayout, ValueLayout *wire.Fixed
	// Agg is the form of an aggregation's values in its map; nil for tables, cells and groups.
	Agg *wire.Agg
}
