// Package kernel knows facts about the running kernel: its types (BTF), the
// formats of its tracepoints, its system calls, its symbols and features.
//
// All of it is read lazily and on the calling goroutine; nothing here loads a
// program or changes the machine, except the feature tests, which say so.
package kernel
