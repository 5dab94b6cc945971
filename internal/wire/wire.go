// Package wire describes how values lie in memory that the kernel half writes
// and user space reads: records in the ring buffer, keys and values of maps.
//
// There is one description for both directions. The compiler emits stores
// from it, the event path and the containers decode with it; neither has an
// offset of its own.
//
// # Fixed layouts
//
// Keys and map values have a fixed size. Each leaf lies at a multiple of its
// size, ints little- or big-endian as the machine is; all other bytes are
// zero. A string takes Size bytes: its bytes, padded with NULs, and its last
// byte says more: StrWhole, StrCut, StrFault, StrNone. Bytes are the same with
// their length, a u16, in the last BytesTail bytes. An int or bool that
// may be None or FAULT has a tag byte at TagOff. Equal floats of keys have equal
// bits: both zeros are 0.0, and what is no number is the infinity's bits and 1.
//
// # Records
//
// A record begins with Header. Then come the leaves of Fields in a fixed
// layout, in which a string or bytes leaf is 4 bytes: u16 offset from the
// start of the record, u16 length in bytes with the top bits as flags
// (RefCut, RefFault, RefNone). The bytes themselves follow the fixed part,
// packed. NULs at the end of a string are not part of it: a comm is sent as
// its 16 bytes.
package wire

// Records and values: tags, strings, headers, layouts (Type).

// Tags of values that may be absent. All kinds of FAULT have the bit of TagFault and not that of TagNone, so that tags
// shifted by 14 are the flags of a string, RefNone and RefFault, of which the higher bits are not stored.
const (
	TagPresent = 0
	TagNone    = 1
	TagFault   = 2
	// TagUnreadable is FAULT, too: the value lies where eBPF cannot read. Only ints have
	// it.
	TagUnreadable = 6
	// TagLost is FAULT, too: the compiler keeps no such value there.
	TagLost = 10
	// TagUnshown is FAULT, too: a part of a whole, such as e.args, that is no value.
	TagUnshown = 14
)

// MaxErrno is the largest number of an error: pointers from -MaxErrno on are errors
// (include/linux/err.h).
const MaxErrno = 4095

// Last bytes of a string in a fixed layout.
const (
	StrWhole = 0
	StrCut   = 1
	StrFault = 2
	StrNone  = 3
)

// BytesTail is what follows bytes in a fixed layout: u16 length, u8 0, and
// the last byte of a string.
const BytesTail = 4

// Flags in the length of a string reference of a record.
const (
	RefLen   = 0x1fff // the length; strings are at most 8191 bytes
	RefCut   = 0x2000
	RefNone  = 0x4000
	RefFault = 0x8000
)

// What stands before each string of a list of strings (label "strlist").
const (
	ListString = 1
	ListFault  = 2 // it could not be read, and is empty
)

// LabelInts begins the label of bytes that are an array of ints: "ints:u4" are unsigned ones of 4 bytes, "ints:s8"
// signed ones of 8, "ints:f8" floats of 8, and "ints:b1" bools. Bytes that are cut are the first elements of a longer
// array.
const LabelInts = "ints:"

// HeaderSize is the size of the header of a record: u32 the record's number
// in the unit, u32 the CPU, u64 the time (CLOCK_MONOTONIC, ns).
const (
	HeaderSize   = 16
	HeaderNumber = 0
	HeaderCPU    = 4
	HeaderTime   = 8
)

// Kind is the shape of a value as readers see it.
type Kind uint8

// The kinds.
const (
	None Kind = iota
	Bool
	Int
	Str
	Bytes
	Tuple
	Record_
	Pointer // an address: an int to scripts
	StackID
	Float // IEEE 754, of 4 or 8 bytes
)

// A Type is a value's shape with the places of its leaves.
type Type struct {
	// Kind is the shape. A Tuple or a Record_ has no place of its own: its Elems have.
	Kind Kind
	Off  int // leaf: offset from the start of the layout
	Size int // leaf: bytes in the layout
	// Signed: the bytes of an Int are a signed number.
	Signed bool
	// TagOff is the offset of the byte that says whether the value is there (TagPresent, TagNone, TagFault); -1: it is
	// never absent.
	TagOff int
	// MayNone and MayFault: kernel halves know that it can be that.
	MayNone, MayFault bool
	// Label says as which text readers show the value: "errno", "names:O_", "strlist"; "" for a value that is shown as
	// it is.
	Label string
	Names []string // Record_
	Elems []Type   // Tuple, Record_
}

// A Fixed is the layout of a key or of a map value.
type Fixed struct {
	// Type has the places of the leaves, from the start of the key or value.
	Type Type
	Size int // a multiple of 8
	// Unsaid is set for the values of a table or cell of which nothing says what they are, as where kernel halves only
	// ask whether a key is there. They are ints.
	Unsaid bool
}

// Widths of ints that are shown as texts: a number of ns with its unit, and a time in ns since 1970.
const (
	WidthDuration = -1 - iota
	WidthTime
)

// A Record is one kind of event in the ring.
type Record struct {
	// Number is the record's in its unit, by which its header names it.
	Number int
	// Probe is the plan's probe whose event this is.
	Probe int
	// Start is set for events of the handler start=.
	Start bool
	// NoCPU: the header's CPU is 0, for nothing reads it: that is for the
	// default line only, a handler captures it as a field.
	NoCPU bool
	// Fields are the captured values, in the order of SSend.
	Fields []Field
	// Widths are bits that negative ints have where the handler shows them without their signs: of user space, not in
	// the ring. 0 is an int that has as many as it needs, and those below 0 are ints that are shown as texts.
	Widths []int
	// FixedSize is the header and the fixed part; strings follow.
	FixedSize int
	// MaxSize is the most that a record can take.
	MaxSize int
}

// A Field is one captured value.
type Field struct {
	// Name is the expression as the script has it: "pid", "args.filename".
	Name string
	// Type has the places of the leaves, from the start of the record. In its place a string leaf has only where the
	// text lies and how long it is; the text stands behind FixedSize.
	Type Type
	// Room is the most bytes of each string leaf, in the order of leaves.
	Room int
}
