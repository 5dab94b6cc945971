package points

import "github.com/startrace/startrace/bpfgen/tree"

// The table of kinds is filled here, above all that it refers to.

func init() { // the functions refer to the table
	expanders = map[string]expander{
		"tracepoint":    {expand: search.tracepoints},
		"rawtracepoint": {expand: search.rawTracepoints, mayWait: search.hasModuleTypes},
		"syscall":       {expand: search.syscalls},
		"func":          {expand: search.kernelSpan},
		"kprobe":        {expand: search.kernelFunctions, mech: tree.AttachKprobe},
		"kretprobe":     {expand: search.kernelFunctions, mech: tree.AttachKretprobe},
		"fentry":        {expand: search.kernelFunctions, mech: tree.AttachFentry},
		"fexit":         {expand: search.kernelFunctions, mech: tree.AttachFexit},
		"ufunc":         {expand: search.userFunctions, mech: tree.AttachUprobe},
		"uprobe":        {expand: search.userFunctions, mech: tree.AttachUprobe},
		"uretprobe":     {expand: search.userFunctions, mech: tree.AttachUretprobe},
		"usdt":          {expand: search.staticProbes},
		"profile":       {expand: profile},
		"interval":      {expand: interval},
		"software":      {expand: search.perfEvents},
		"hardware":      {expand: search.perfEvents},
		"watchpoint":    {expand: search.watchpoint},
		"iter":          {expand: search.iterators},
		"lsm":           {expand: search.hooks},
	}
}
