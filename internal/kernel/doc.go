// Package kernel knows facts about the running kernel: its types (BTF), the
// formats of its tracepoints, its system calls, its symbols and constants, and
// the patterns and spelling hints by which scripts name them.
//
// All of it is read lazily, when it is first asked for, on the calling
// goroutine, and kept; everything may be used from several goroutines. Nothing
// here loads a program or changes the machine, except that TracefsPath mounts
// tracefs where it is nowhere mounted and the user may do so.
//
// What is read is not trusted: damaged input gives errors, bounded in time,
// never a panic. What a kernel cannot tell (macros, the arguments of system
// calls where tracefs is closed) is shipped as text in tables/.
package kernel
