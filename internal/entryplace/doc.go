// Package entryplace says where debug information has a parameter when its function begins, and whether that is where
// the ABI has it. Of
//
//	__attribute__((ms_abi)) int ms(int a, int b)
//
// gcc says only there that a is in rcx: a function that has another convention is not marked.
package entryplace
