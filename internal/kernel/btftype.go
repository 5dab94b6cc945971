package kernel

// TypeID is the number of a type in the kernel's BTF; 0 is void.
type TypeID uint32
