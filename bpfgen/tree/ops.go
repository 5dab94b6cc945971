package tree

// The operators of expressions and statements of trees, a constant each, and which of them read memory (`Reads`).

// Op is the operator of an expression.
type Op uint8

// MaxPattern is the most characters of a glob or a text that is looked for: each is a bit of a word of states.
const MaxPattern = 63

// Reads reports whether an operation reads memory of the kernel or of a process, or what a program is given about the
// event.
func (op Op) Reads() bool {
	switch op {
	case OpLoad, OpStr, OpMem, OpStrList, OpJoin, OpListLen, OpPath:
		return true
	}
	return false
}

// The operators of expressions. "n" stands for Int, "s" for Str.
const (
	OpInvalid Op = iota

	// Constants and variables.
	OpConst // Type Int, Bool, None: n; Str, Bytes: s. FAULT: Type.MayFault with Kind None
	OpLocal // local n

	// The event and the machine. s: pid tid ppid uid gid comm cpu time cgroup
	// task ip usermode. syscall_nr: the number of the system call
	// (AttachSyscall*), syscall_name: the number that stands for its name (see OpSyscallName). reg:N: 8 bytes of
	// pt_regs at offset N, read through the pointer in ctx[0] (AttachSyscall*) or directly (pt_regs and perf events).
	// cookie: Place.Cookie of the place that was hit. frame: where the frame of
	// the called function begins on the stack, the same at its entry and its
	// return, and lower for deeper calls (of Go functions, "goframe": relative
	// to the stack's end, since stacks move). thread: what calls nest in, the
	// address of the task (of Go functions, "goroutine": that of its g).
	// depth: behind SSpanEnter and SSpanEnd of a nested span, how many calls
	// around this one are open.
	OpBuiltin

	// OpCtx is the address of the context plus n; only for OpLoad and OpStr
	// with space Ctx, and OpStr with Kernel (a __data_loc string).
	OpCtx

	// OpLoad reads a scalar of width Type.Bits at Args[0]+n in space s. If
	// Type.MayFault it gives FAULT where the read fails.
	OpLoad
	// OpStr reads a string of at most Type.Cap bytes (NUL included) at
	// Args[0]+n in space s; a longer one is cut. Args[1], if there, limits
	// the length in bytes (char arrays without NUL, __data_loc).
	OpStr

	// OpSpanSlot is slot n of the span that ends here; OpSpanTime-like
	// values are slots as any other.
	OpSpanSlot

	// Arithmetic on 64 bits; operands are present ints.
	OpAdd
	OpSub
	OpMul
	OpNeg
	OpFloorDiv // ends the handler where the divisor is 0
	OpFloorMod
	OpAnd
	OpOr
	OpXor
	OpNot // ~x
	OpShl // ends the handler where the count is not in 0..63 (Starlark: <512)
	OpShr // arithmetic if Args[0] is signed
	OpAbs
	OpMin // of Args, by the mathematical value
	OpMax
	OpBswap // bytes of width n (2, 4, 8) swapped

	// Comparisons give a bool. On ints by the mathematical value whatever
	// the signs; on strings bytewise; on bools.
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe

	// OpIsNone and OpIsFault look at the tag (or the null pointer).
	OpIsNone
	OpIsFault
	// OpPresent is Args[0] without its tag: it ends the handler, counted at
	// Pos, where the value is None or FAULT and s says what was wanted.
	OpPresent
	// OpSigned is Args[0], which has no sign, as an int with one: it ends the handler, counted at Pos, where the value
	// is 2^63 or more. s says what the value is.
	OpSigned
	// OpAssume is Args[0] without its tag where control flow proves it.
	OpAssume
	// OpConvert changes the type: int widths, adding a tag, a string's room.
	OpConvert

	// Logic on bools, short-circuit.
	OpLNot
	OpLAnd
	OpLOr
	OpCond // Args: condition, then, else

	// Strings.
	// OpChars is the string in a char[N] that lies in no memory: Args are its words of 8 bytes, in their order. It ends
	// at the first NUL.
	OpChars
	OpStrLen      // bytes without the NUL
	OpByteAt      // byte n of Args[0]: Bytes; below 0 from the end; ends the handler where there is none
	OpStartsWith  // Args: s, constant
	OpEndsWith    // Args: s, constant
	OpContains    // Args: haystack, constant
	OpMatches     // Args: s, constant glob
	OpStrConstGet // reserved

	// Composites.
	OpTuple  // Args
	OpRecord // Args, names in Type.Names
	OpElem   // element n of Args[0]

	// Containers; container n.
	OpTableGet   // Args: key, what a missing one gives, without it None
	OpTableIndex // Args: key; ends the handler where the key is missing
	OpTablePop   // Args: as those of OpTableGet
	OpTableHas   // Args: key; bool
	OpCellGet

	// OpPath is the whole path of a file as a string, walked through dentries
	// and mounts at this moment: Args[0] is the address of a struct file, path
	// or dentry, which s names ("file", "path", "dentry"; a dentry has no mount
	// and ends at the root of its file system). Unit.Path has the offsets. The
	// path is built from its end, so a cut one keeps the leaf and begins with
	// "…". Deleted files end in " (deleted)"; pipes and sockets give
	// pipe:[INODE], socket:[INODE], namespaces mnt:[INODE], others of the kernel's own file systems
	// anon_inode:NAME, memfds /memfd:NAME (deleted), as /proc/PID/fd shows them.
	// An address of 0 gives None, a read that fails FAULT.
	OpPath
	// OpMem reads Type.Cap bytes at Args[0]+n in space s: Type is Bytes.
	OpMem
	// OpStrList reads the strings of a char ** at Args[0]+n in space s, up to the
	// NULL, packed one behind the other, each behind wire.ListString and with its NUL, into at most
	// Type.Cap bytes: Type is Bytes with the label "strlist". What does not fit
	// is cut. A list that cannot be read is FAULT; a string that cannot be read
	// is empty, behind wire.ListFault. BitSize 32: its pointers have 4 bytes. Args[1], where there is one, is a bool:
	// whether the first string is taken for one that cannot be read.
	OpStrList
	// OpJoin is OpStrList as one string: the strings with Args[1], a constant
	// of one byte, between them, "<fault>" for one that cannot be read. Args[2] is Args[1] of OpStrList.
	OpJoin
	// OpListLen is how many strings the char ** at Args[0]+n in space s has, with ListHoles where one of them cannot
	// be read. It is -1 where the list cannot be read, or is longer than lists are. BitSize as for OpStrList. Args[1],
	// a constant, is the Type.Cap of that.
	OpListLen

	// OpSyscallName is the number that stands for the name of the system call whose number Args[0] is: calls that
	// different interfaces have under one name have one.
	OpSyscallName

	// OpNameText is the text of the name of a function or point whose number Args[0] is (see NameOf). n is 1 where it
	// can be a system call without a name, as syscall_1000: Type, a Str, has room for that. A name that only user space
	// knows ends the handler, counted at Pos.
	OpNameText

	// OpStack is the stack at this moment, of the kernel or of the user program
	// (s is the space), at most n addresses from the leaf: an id in MapStacks, 0
	// where there is none. Type is Stack.
	OpStack

	// OpSignal sends the signal Args[0] to the process of the event: whether the
	// kernel took it. Type is Boolean.
	OpSignal

	// OpUnreadable is what lies where no program can read, as in a register for
	// floats: FAULT, with a tag of its own. n is Lost where nobody knows the place, and Unshown where it is no value.
	OpUnreadable

	// OpUnread is nothing: it stands for the text of a slot that no end of these calls reads, and which the start so
	// need not write. Whoever reads the slot all the same, as items() does, finds an empty text.
	OpUnread

	// OpInline runs Body; its value is what a SReturn with the same n gives. s is
	// the function of the script that is called here, "" for parts of a loop.
	OpInline
)

// ListHoles is added by OpListLen to the number of strings where one of them cannot be read.
const ListHoles = 1 << 32

// Lost is n of an OpUnreadable whose value the compiler has optimized out.
const Lost = 1

// Unshown is n of an OpUnreadable that stands in a whole, such as e.args, for a part that cannot be a value.
const Unshown = 2

// StmtOp is the operator of a statement.
type StmtOp uint8

// The statements.
const (
	SInvalid StmtOp = iota
	SAssign         // local n = Exprs[0]
	SDo             // Exprs[0] for its effect
	SIf             // Exprs[0]; Then, Else (may be nil)
	SFor            // local n over Exprs: start, stop, step (constant); Then. Str: decimal bound of iterations
	SBreak
	SContinue
	SReturn // from inline n with Exprs[0] (absent where the inline has no value)
	SCall   // Then: the statements of function s of the script, which is called here
	SStop   // the handler ends here: where failed, a None key
	SSend   // record n with Exprs, one a field of the wire.Record
	SCount  // one more is lost: n is the SiteKind

	STableSet    // container n, key, value
	STableUpdate // container n, key, value; s is the operator: + - * & | ^
	STableRemove // container n, key
	SCellSet     // container n, value
	SCellAdd     // container n, value; s as in STableUpdate
	// SAggAdd adds to aggregation n. Exprs: value, weight, then the key if
	// the container is keyed. s is the member of a group, "" for none.
	SAggAdd

	// SSpanEnter is the first statement of a start of a nested span (Span.Nested).
	// Exprs: thread, frame, place: u64 each. It drops, and counts, open entries
	// that can have no end any more (a longjmp or an exception left them): of
	// frames that are deeper than this one, or the same with the same place.
	SSpanEnter
	// SSpanStart opens the entry of the span with Exprs as its slots. A span
	// with a key has it as the first of Exprs; see also Span.Muted.
	SSpanStart
	// With a key, Exprs[0] is it. Of a nested span: thread, frame, place; the
	// entry is that of this frame and place, and deeper ones are dropped.
	// It takes the entry, and ends the program where there is none, which is counted unless a start could not be seen,
	// or s is "filtered", or Else, which runs before, ends the program.
	SSpanEnd
)
