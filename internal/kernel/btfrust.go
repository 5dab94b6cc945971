package kernel

// Enums and vectors of Rust in the form of BTF.
//
// What a program of Rust says of its types that C has nothing like: which of the values of an enum there is, and what a
// Vec has, since its members lead to bytes.

// A VariantPart says which of its variants an enum of Rust is. Each variant is a member of the struct by its name.
type VariantPart struct {
	// Discriminant is the member that tells, an int without a sign. Its type is 0 where there is only one variant.
	Discriminant Field
	// Variants are in the order of the source.
	Variants []Variant
}

// A Variant is one of the values of an enum of Rust.
type Variant struct {
	// Name is that of the member.
	Name string
	// Value is what the discriminant is. Of the Default it is any value that no other variant has: another part of the
	// variant lies in its place.
	Value   uint64
	Default bool
}

// rustTypes are those of one program.
type rustTypes struct {
	variants map[TypeID]VariantPart
	elems    map[TypeID]TypeID
}
