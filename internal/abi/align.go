package abi

// The alignment of a value that is not said, as of packed structs.

// Aligned gives the value the alignment that its parts and its size allow: debug information and BTF do not say that a
// struct is packed.
func (v *Value) Aligned() {
	v.Align = 1
	for _, s := range v.Scalars {
		a := min(s.Size, 16)
		for a > 1 && (s.Off%a != 0 || v.Size%a != 0) {
			a /= 2
		}
		v.Align = max(v.Align, a)
	}
}
