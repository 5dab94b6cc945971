package kernel

// NoTrampoline says why a function whose types are known cannot have a trampoline, "" if it can:
// arch_prepare_bpf_trampoline copies registers, and btf_ctx_access (kernel/bpf/btf.c) knows pointers to numbers since
// 5.17.
func (f *Facts) NoTrampoline(fn *Function) string {
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
