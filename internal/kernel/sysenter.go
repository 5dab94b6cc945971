package kernel

import "strings"

// Types of the arguments of the tracepoints `syscalls:sys_enter_*`.

// sysEnter is how the tracepoints of the entries of system calls are named.
const sysEnter = "sys_enter_"

// typeArguments gives the fields of a system call's tracepoint their types. The format has the C type of each argument,
// and the size and the sign of a register for all of them (syscall_enter_define_fields, kernel/trace/trace_syscalls.c).
func (f *Facts) typeArguments(t *Tracepoint) {
	call, ok := strings.CutPrefix(t.Name, sysEnter)
	if t.Group != "syscalls" || !ok {
		return
	}
	sc, _ := SyscallByName(call)
	n := 0
	var args []*SyscallArg
	for i := range t.Fields {
		field := &t.Fields[i]
		if strings.HasPrefix(field.Name, "common_") || field.Name == "__syscall_nr" || field.DataLoc ||
			field.Size != 8 {
			continue
		}
		arg := f.syscallArgument(field)
		if sc != nil && n < len(sc.Args()) && arg.IsString && sc.Args()[n].IsBuffer {
			arg.IsString, arg.IsBuffer = false, true
		}
		if sc != nil && n < len(sc.Args()) && sc.Args()[n].CType == arg.CType {
			arg.Creating = sc.Args()[n].Creating
		}
		field.Arg = &arg
		args = append(args, &arg)
		n++
	}
	markUses(call, func() []*SyscallArg { return args })
}

// syscallArgument is an argument by its declaration in the format. What the table of C types lacks is a typedef of the
// kernel's.
func (f *Facts) syscallArgument(field *TracepointField) SyscallArg {
	arg := parseSyscallArg(field.CType + " " + field.Name)
	if _, known := scalars[plainC(arg.CType)]; known || arg.IsPtr || strings.HasPrefix(plainC(arg.CType), "enum ") {
		return arg
	}
	b, err := f.BTF()
	if err != nil {
		return arg
	}
	if id, ok := b.Named(KindTypedef, plainC(arg.CType)); ok {
		if t, err := b.Type(b.Skip(id)); err == nil {
			arg.IsPtr = t.Kind == KindPtr
			if t.Kind == KindInt || t.Kind == KindEnum {
				arg.Size, arg.Signed = t.Size, t.Signed
			}
		}
	}
	return arg
}
