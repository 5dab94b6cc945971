// Package location says where values of programs are, as debug information describes it: by an expression of DWARF
// (DWARF 5, 2.5 and 2.6), which a debugger would run on a stack of numbers.
//
// There is no stack here. The expression is run once, with trees instead of numbers, and what it leaves is a tree that
// a compiler makes instructions of. Of
//
//	DW_OP_breg3 8; DW_OP_deref; DW_OP_plus_uconst 16
//
// it is a place in memory, whose address is
//
//	load64(bx + 8) + 16
//
// What a program that is traced cannot reach, or what nobody knows any more, is a place that says so (Unreadable,
// Nowhere): never a number that is not the value.
package location
