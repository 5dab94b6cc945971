package kernel

// Functions that call programs at raw tracepoints, for stacks.

// The programs at a raw tracepoint are called by a function that all events of its
// class share: __bpf_trace_CLASS. No list says which class an event is of; the
// kernel has a variable for each event, __bpf_trace_tp_map_EVENT, a struct
// bpf_raw_event_map that points to the function (include/trace/bpf_probe.h).
const (
	classFunction = "__bpf_trace_"
	eventVariable = "__bpf_trace_tp_map_"
)

// ClassFunctions gives the addresses of these functions for raw tracepoints. 0:
// the kernel does not tell, as without CONFIG_KALLSYMS_ALL, which has the
// variables, or locked down, where they cannot be read.
func (f *Facts) ClassFunctions(tracepoints []string) []uint64 {
	out := make([]uint64, len(tracepoints))
	symbols, err := f.Symbols()
	if err != nil {
		return out
	}
	var variables []uint64
	var of []int
	for i, name := range tracepoints {
		if addr, ok := symbols.Addr(classFunction + name); ok {
			out[i] = addr
		} else if addr, ok := symbols.Addr(eventVariable + name); ok {
			variables, of = append(variables, addr), append(of, i)
		}
	}
	if len(variables) == 0 || f.opts.Words == nil {
		return out
	}
	functions, err := f.classesOf(variables)
	if err != nil {
		return out
	}
	for i, addr := range functions {
		out[of[i]] = addr
	}
	return out
}

// classesOf reads where variables point.
func (f *Facts) classesOf(variables []uint64) ([]uint64, error) {
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	id, _ := b.Named(KindStruct, "bpf_raw_event_map")
	field, err := b.Field(id, "bpf_func")
	if err != nil {
		return nil, err
	}
	at := make([]uint64, len(variables))
	for i, addr := range variables {
		at[i] = addr + uint64(field.Off)
	}
	return f.opts.Words(at)
}
