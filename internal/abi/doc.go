// Package abi knows where C passes arguments and results: the System V ABI of
// amd64, and AAPCS64 of arm64.
//
// It works on types that are taken apart into their scalars, whoever knows them
// (the kernel's BTF, a program's DWARF), and knows neither kernels nor files. The
// two conventions are tables (convention.go), and each has a way to classify a value
// (classify.go). assign.go gives registers and the stack in turn.
//
// Sources: System V Application Binary Interface, AMD64 Architecture Processor
// Supplement, 3.2.3; Procedure Call Standard for the Arm 64-bit Architecture
// (AAPCS64), 6.8 and 6.9. The kernel is built by the same compilers and keeps to
// the same rules, without floating-point registers.
package abi
