// Package state keeps containers in kernel maps: it implements value.Backend
// on hash maps (keyed containers) and on mapped arrays (unkeyed ones).
//
// While programs run, a map must not be read by bpf(2) calls: the kernel
// switches perf event, tracepoint and kprobe programs off on a CPU for as long
// as such a call runs there (bpf_disable_instrumentation), and their events
// are lost, those of perf events without a trace. So user space acts through
// programs of its own that are run by test run (raw tracepoint programs,
// from 5.10), which the kernel does not guard that way. Keys and values pass
// through an array that both sides have mapped.
//
//	Lookup, Update, Delete, Pop, AddInt   one program a map, see access.go
//	Each                                  a program with bpf_for_each_map_elem
//	                                      (5.13), else a map iterator (5.10)
//	Each after Settle                     batches of bpf(2), nothing to disturb
//
// Programs are loaded at first use. A container belongs to one goroutine.
package state
