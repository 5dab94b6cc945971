// Package signature finds out where the words of a user function's arguments and of its
// result are, and of which size and sign, from debug information (DWARF).
//
// It knows neither files nor processes: it gets sections. It says nothing (nil) where
// debug information does not tell for certain: of clones, whose parameters the compiler
// has moved; of functions of one file that clang changed at its will; of classes of C++
// that are perhaps passed by their address; of structs of languages that promise no
// ABI; of generic functions of Go, which take a dictionary that is not mentioned.
//
// A word is what one register holds, in the order of the declaration: a struct of two
// words, a string of Go, is two. What is read by package debug/dwarf is read when the
// first function is asked for.
package signature
