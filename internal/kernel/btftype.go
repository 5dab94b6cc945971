package kernel

// Type, Member, Field and Param: what BTF tells of a type.

// TypeID is the number of a type in the kernel's BTF; 0 is void.
type TypeID uint32

// TypeKind says what a type is.
type TypeKind uint8

// The kinds. KindModifier is const, volatile, restrict and type tags;
// KindOther is what has no value of its own: variables, sections, decl tags.
const (
	KindVoid TypeKind = iota
	KindInt
	KindPtr
	KindArray
	KindStruct
	KindUnion
	KindEnum // 32 and 64 bits
	KindFwd
	KindTypedef
	KindModifier
	KindFunc
	KindProto
	KindFloat
	KindOther
)

var kindNames = [...]string{
	"void", "int", "pointer", "array", "struct", "union", "enum", "forward declaration",
	"typedef", "modifier", "function", "function prototype", "float", "other",
}

// String names the kind for error texts.
func (k TypeKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// A Type is one type of the kernel. Its strings and slices are the caller's.
type Type struct {
	// ID is its number in the BTF; those of modules follow the kernel's.
	ID TypeID
	// Kind decides which of the other fields count.
	Kind TypeKind
	// Name is "" for anonymous types. Of a modifier it is "const",
	// "volatile", "restrict" or the name of the type tag ("rcu", "user").
	Name string
	Size int // bytes; 0 where the kind has none
	Bits int // integers: the value bits
	// Signed is for integers and enums; Char is a char of any signedness.
	Signed, Char, Bool bool
	// Union tells a forward declaration of a union from that of a struct.
	Union bool
	// Elem is what a pointer points at, an array's element, what a typedef or
	// modifier stands for, a function's prototype, a prototype's result.
	Elem TypeID
	Len  int // array: the number of elements
	// Open: nobody says how many elements the array has, as of the last member of a struct, and Len is 0.
	Open    bool
	Members []Member    // struct, union
	Params  []Param     // prototype; one without name and type for `...`
	Enums   []EnumValue // enum
}

// PlainChar reports whether a type is the plain char of C, of which arrays are strings: unsigned char is data, and the
// char of Rust a number of 4 bytes.
func (t Type) PlainChar() bool { return t.Kind == KindInt && t.Name == "char" && t.Size == 1 }

// A Member is a member of a struct or union as declared: an anonymous struct
// or union has the name "".
type Member = Field

// A Field is a member found by its Name.
type Field struct {
	Name string
	Off  int // bytes from the start of the struct that was asked
	// Type is that of the member.
	Type TypeID
	// Bit and BitSize locate a bit-field: load the type's size in bytes
	// (little-endian) at Off, shift right by Bit, keep BitSize bits. BitSize 0:
	// no bit-field. Load says how many bytes to load where it is one; it is less
	// than the type's size at the end of a packed struct.
	Bit, BitSize uint8
	Load         uint8
}

// A Param is a parameter of a function, of the type Type; its Name may be "".
type Param struct {
	Name string
	Type TypeID
}

// An EnumValue is one Name of an enum, and the number that it stands for, Val.
type EnumValue struct {
	Name string
	Val  int64
}
