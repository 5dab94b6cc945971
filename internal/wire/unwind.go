package wire

// Rules of frames as words, tables, and why a walk ends.

// Tables for stacks of user programs
//
// Most programs keep no frame pointers. Where a function's frame begins, at any of its instructions, stands in tables
// of their files (.eh_frame, .debug_frame), which user space turns into rows of 8 bytes that programs in the kernel can
// search. A row is a place in the code from which on a rule holds:
//
//	u32 place, in bytes behind the first page of the file's code | u32 rule
//
// Rows lie in chunks of UnwindChunk bytes: UnwindRows places by size, then their rules. The rows of each page (of
// UnwindPage bytes) of code lie in one chunk, whose first row holds at the first byte of its first page. The places
// behind the last row are the largest number. A file has a run of chunks. The first ones are an index, with a u16 for
// each page: the chunk of its rows, counted from the file's first chunk, and 0 where the page has no rules.
//
//	chunk n       u16 of page 0, 1, …          UnwindPages pages for each chunk of the index
//	chunk n + 1   places of pages 0 … k, their rules
//	chunk n + 2   places of pages k+1 …
//
// Chunks lie in UnwindSegments maps of UnwindSegment chunks each, which are values of one map and are made when they
// are needed: chunk c is entry c % UnwindSegment of map c / UnwindSegment. A file's chunks may lie in several maps.
// Chunk 0 belongs to no file.
//
// Each process that has its rules ready has a table of its mappings of code, by address, and an entry in a map from its
// number (as the kernel half sees it):
//
//	u32 number of the table | u32 0 | u64 the image that runs (UnwindImage), 0: any
//
// A walk goes by the table only if that image runs: one that was replaced by exec has left its table behind, until user
// space hears of it, and another process can have the number. Processes with the
// same mappings, as after fork, share a table. A table is UnwindMappings starts of mappings (u64; UnwindBehind behind
// the last one), then UnwindMappings entries:
//
//	u64 address of the file's first page | u32 pages of the mapping | u32 the file's first chunk, 0: no rules
//
// UnwindAsk beside the pages says that the program has loaded the file while it ran. It may have unloaded it, and
// loaded another one there, before user space hears of that. So where the kernel tells what is mapped at an address
// (see below), a walk asks it.
//
// The first start is 0, of a mapping without pages, so that a search finds one for each address. A file whose rows are
// not there yet has the first chunk UnwindPending.
//
// Where a process has no table yet, or a table without some mapping, and the kernel tells what is mapped at an address
// (bpf_find_vma, 5.17), walks look for the rules of the file that is mapped there, which another process may have had
// mapped before. A map has the files whose rows are there. Its keys are what the kernel knows of a file:
//
//	u32 device (major number << 20 | minor) | u32 nanoseconds of the last change | u64 seconds of it
//	u64 inode | u64 size
//
// (of the vdso: zeros and its size), and its values where the only segment of code lies: the place in the file of its
// first page, how many bytes it has, and how far behind the first byte of the file, were all of it mapped as the
// segment is, the first page lies that has rules:
//
//	u64 place | u64 bytes | u64 distance | u32 first chunk | u32 1: an interpreter of Python is in it
const (
	UnwindPage     = 4096
	UnwindChunk    = 16384
	UnwindRows     = UnwindChunk / 8
	UnwindPages    = UnwindChunk / 2
	UnwindSegment  = 64
	UnwindSegments = 64
	UnwindMappings = 256

	UnwindEntries    = 8 * UnwindMappings // the offset of the entries in a table
	UnwindEntrySize  = 16
	UnwindEntryBase  = 0
	UnwindEntryPages = 8
	UnwindEntryChunk = 12
	UnwindAsk        = 1 << 31
	UnwindPython     = UnwindEntries + UnwindEntrySize*UnwindMappings // where an interpreter has its frames: see Python
	UnwindTable      = UnwindPython + 8*PythonWords

	UnwindBehind = 1<<63 - 1 // no address: starts are compared as numbers with a sign

	UnwindPending    = 1<<32 - 1 // as a first chunk
	UnwindNoMappings = 0         // the number of a table without mappings

	UnwindProcesses = 8192 // the most processes at once

	UnwindGuesses = 8192 // the most places whose rows are remembered, a u16 for each

	UnwindFiles        = 4096 // the most files that are found by what is mapped
	UnwindFileKey      = 32
	UnwindFileDevice   = 0
	UnwindFileNano     = 4
	UnwindFileSeconds  = 8
	UnwindFileInode    = 16
	UnwindFileSize     = 24
	UnwindFilePlace    = 0
	UnwindFileBytes    = 8
	UnwindFileDistance = 16
	UnwindFileChunk    = 24
	UnwindFilePython   = 28
	UnwindFileValue    = 32

	UnwindProcessTable = 0 // of an entry of a process
	UnwindProcessImage = 8
	UnwindProcessSize  = 16

	// UnwindEndShift and UnwindStackShift are how far addresses are shifted in an image.
	UnwindEndShift   = 24
	UnwindStackShift = 16
)

// UnwindImage tells apart what runs in a process before and after exec, by where its code begins and ends and its stack
// begins (mm_struct.start_code, .end_code and .start_stack), of which the kernel chooses the latter at random. A copy
// (fork) has the image of its parent, and the same mappings.
func UnwindImage(code, end, stack uint64) uint64 {
	return code ^ end<<UnwindEndShift ^ stack<<UnwindStackShift
}

// A rule says where the frame begins that a function runs in (the canonical frame address, CFA), and where the caller's
// registers are. The lowest UnwindKindBits are its kind. Then, on amd64, 8 bits tell where the caller's frame pointer
// is: 0 in its register, k at CFA-8k, UnwindAtFrame at the address that the frame pointer has. The caller's pc is at
// CFA-8 always. The upper 21 bits are the operand, with a sign:
//
//	amd64  operand 21 | frame pointer 8 | kind 3
//	arm64  operand 18 | frame pointer 11 | kind 3
//
// On arm64 the pc is at 8 bytes behind the frame pointer, if that is saved, and in the link register if it is not, but
// for UnwindLinkOnly.
const (
	UnwindKindBits = 3

	// UnwindNone: nothing is known, and the walk goes by frame pointers. UnwindUnfollowed is of this kind: the tables
	// of the file know, and no rule can say it.
	UnwindNone       = 0
	UnwindUnfollowed = UnwindNone | 1<<UnwindKindBits
	UnwindSP         = 1 // CFA is the stack pointer and the operand, in words of 8 bytes
	UnwindFP         = 2 // CFA is the frame pointer and the operand, in words
	// UnwindSignal is the frame of a signal if the operand is UnwindOfSignal: the registers lie there as the kernel has
	// put them. If it is UnwindOfReturn, the place is code of the kernel's that has replaced a return address. If its
	// lowest bits are UnwindOfRegister, the CFA is another register and some words. Registers are known of the frame
	// with which a walk begins, and so the rule is of no use to others. The register is said by where struct pt_regs
	// has it. If its lowest bits are UnwindOfLink, the return address is in such a register, of amd64, and the CFA is
	// the stack pointer and some words.
	//
	//	words | word of struct pt_regs 5 | UnwindOfRegister or UnwindOfLink 2
	//
	// If its lowest bits are UnwindOfInjected and it is not UnwindOfSignal, nobody has called the function: the runtime
	// of Go has interrupted its caller and made the frame, whose return address is that of the instruction which comes
	// next. CFA is the stack pointer and one word less than the operand has. On arm64 the runtime has put the link
	// register there and takes UnwindInjectedSize bytes for it.
	//
	//	words and 1 | UnwindOfInjected 2
	UnwindSignal = 3
	UnwindStop   = 4 // the outermost frame: there is no caller
	// UnwindStub, of amd64: an entry of the PLT, which pushes a word on the way. CFA is the stack pointer and 8, and 8
	// more where the last 4 bits of the pc are the operand or more.
	UnwindStub = 5
	// UnwindLinkOnly, of arm64: CFA is the stack pointer and the operand. The pc is at CFA-8k, and the frame pointer is
	// in its register.
	UnwindLinkOnly = 5
	// UnwindFPMem and UnwindSPMem: the word at a (signed 8 bits, in words, the lower ones of the operand) behind the
	// register, and then b words (the upper bits) more, are the CFA.
	UnwindFPMem = 6
	UnwindSPMem = 7

	UnwindOfSignal   = 0
	UnwindOfInjected = 0
	UnwindOfReturn   = 1
	UnwindOfRegister = 2
	UnwindOfLink     = 3
	UnwindOfBits     = 2

	UnwindRegisterBits = 5
	UnwindInjectedSize = 16

	UnwindSavedBitsAMD64 = 8
	UnwindSavedBitsARM64 = 11
	UnwindAtFrame        = 255 // of amd64
	// UnwindAtStack, of arm64: frame pointer and return address are saved at the stack pointer, where the frame is
	// larger than the number of words can say.
	UnwindAtStack = 1<<UnwindSavedBitsARM64 - 1
)

// Why the walk along a stack has ended, as the entry of the stack has it.
const (
	UnwindReached    = iota + 1 // the outermost frame, by its rule
	UnwindLimit                 // as many frames as were asked for
	UnwindNoTable               // the process has no table yet: by frame pointers alone
	UnwindNoMapping             // an address at which no code is mapped
	UnwindUnreadable            // memory of the stack that cannot be read
	UnwindNoProgress            // a frame that does not lie above the one before it
	UnwindNoFrame               // code without rules, and no frame pointer leads on
	UnwindNoRule                // the same, of code that has a rule which cannot be said, or needs a lost register
	UnwindReasons
)
