package kernel

import (
	"slices"
	"strings"
)

// Which functions can have no trampoline, with the reason, and which run with locks of tables.

// NoTrampoline says why a function whose types are known cannot have a trampoline, "" if it can:
// arch_prepare_bpf_trampoline copies registers, and btf_ctx_access (kernel/bpf/btf.c) knows pointers to numbers since
// 5.17.
func (f *Facts) NoTrampoline(fn *Function) string {
	if RunsWithLocks(fn.Name) {
		return "programs call " + fn.Name + " while they hold locks of their tables, and those at trampolines would " +
			"wait there for ever"
	}
	btf, err := f.BTF()
	if err != nil {
		return err.Error()
	}
	if len(fn.Params) > maxTrampolineArgs {
		return fn.Name + " has arguments on the stack"
	}
	for _, p := range fn.Params {
		if why := f.noArgument(btf, fn.Name, p); why != "" {
			return why
		}
	}
	return noResult(btf, fn)
}

// lockFunctions begin the names of the functions by which tables and rings of programs are locked, and of those that
// run with such a lock (kernel/bpf/hashtab.c, percpu_freelist.c, bpf_lru_list.c, ringbuf.c). Before 6.15, whose locks
// of tables notice that, a program that runs within one of these, below another program that has the lock that it
// wants, waits for ever. The kernel keeps kprobes from running below each other (bpf_prog_active), but not trampolines,
// whose programs only do not run below themselves.
var lockFunctions = []string{"_raw_spin_", "_raw_read_", "_raw_write_", "queued_spin_lock", "native_queued_spin_lock",
	"__pv_queued_spin", "queued_read_lock", "queued_write_lock", "resilient_", "trace_contention_",
	"__traceiter_contention_", "htab_", "__htab_", "pcpu_freelist_", "__pcpu_freelist_", "bpf_lru_", "__bpf_lru_",
	"bpf_common_lru_", "bpf_percpu_lru_", "__local_list_", "bpf_ringbuf_", "__bpf_ringbuf_", "bpf_percpu_hash_",
	"bpf_percpu_array_", "bpf_obj_free_", "bpf_mem_", "irq_work_"}

// RunsWithLocks reports whether a function locks tables of programs, or runs with such a lock.
func RunsWithLocks(function string) bool {
	return slices.ContainsFunc(lockFunctions, func(p string) bool { return strings.HasPrefix(function, p) })
}

// maxTrampolineArgs are those that a trampoline passes on all machines: six registers on x86; arm64 has eight, of which
// two are not used here.
const maxTrampolineArgs = 6

// noArgument says why a trampoline cannot pass an argument of a function.
func (f *Facts) noArgument(btf *BTF, function string, p Param) string {
	t, err := btf.Type(btf.Skip(p.Type))
	size, sizeErr := btf.Size(p.Type)
	whole := t.Kind == KindStruct || t.Kind == KindUnion
	switch {
	case err != nil || sizeErr != nil || size > 8:
		return function + " takes " + p.Name + " by value in several words"
	case whole && !f.StructArguments():
		return "this kernel has no trampolines for the struct that " + function + " takes by value"
	case t.Kind == KindPtr && !f.PointerArguments() && !btf.plainPointer(t.Elem):
		return "a program of this kernel may not read the pointer " + p.Name + " of " + function
	}
	return ""
}

// noResult says why a function's result keeps it from having a trampoline: they know none that is a struct
// (btf_distill_func_proto, kernel/bpf/btf.c).
func noResult(btf *BTF, fn *Function) string {
	switch t, err := btf.Type(btf.Skip(fn.Ret)); {
	case err != nil:
		return err.Error()
	case t.Kind == KindStruct || t.Kind == KindUnion:
		return fn.Name + " returns a struct"
	case t.Size > 8:
		return fn.Name + " returns several words"
	}
	return ""
}

// plainPointer: to a struct, or to anything.
func (b *BTF) plainPointer(to TypeID) bool {
	if b.Skip(to) == 0 {
		return true
	}
	t, err := b.Type(b.Skip(to))
	return err == nil && (t.Kind == KindStruct || t.Kind == KindUnion)
}
