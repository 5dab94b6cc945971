package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// The table of kinds is filled here, above all that it refers to.

func init() { // the functions refer to the table
	kinds = map[string]kind{
		"tracepoint":    {expand: finder.tracepoints},
		"rawtracepoint": {expand: finder.rawTracepoints, mayWait: finder.hasModuleTypes},
		"syscall":       {expand: finder.syscalls},
		"func":          {expand: finder.kernelSpan},
		"kprobe":        {expand: finder.kernelFunctions, mech: tree.AttachKprobe},
		"kretprobe":     {expand: finder.kernelFunctions, mech: tree.AttachKretprobe},
		"fentry":        {expand: finder.kernelFunctions, mech: tree.AttachFentry},
		"fexit":         {expand: finder.kernelFunctions, mech: tree.AttachFexit},
		"ufunc":         {expand: program(inPrograms.userFunctions), mech: tree.AttachUprobe},
		"uprobe":        {expand: program(inPrograms.userFunctions), mech: tree.AttachUprobe},
		"uretprobe":     {expand: program(inPrograms.userFunctions), mech: tree.AttachUretprobe},
		"usdt":          {expand: program(inPrograms.staticProbes)},
		"profile":       {expand: profile},
		"interval":      {expand: interval},
		"software":      {expand: finder.perfEvents},
		"hardware":      {expand: finder.perfEvents},
		"watchpoint":    {expand: program(inPrograms.watchpoint)},
		"iter":          {expand: finder.iterators},
		"lsm":           {expand: finder.hooks},
	}
}

// program is a kind of points in user programs.
func program(find func(inPrograms, *plan.Pattern) []*target) func(finder, *plan.Pattern) []*target {
	return func(f finder, p *plan.Pattern) []*target { return find(f.inPrograms(), p) }
}
