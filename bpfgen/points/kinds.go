package points

import (
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// The table of families: for each family of kinds the function that expands its patterns.

func init() { // the functions refer to the table
	expanders = map[*point.Family]expander{
		point.Tracepoints:     {expand: search.tracepoints},
		point.RawTracepoints:  {expand: search.rawTracepoints, mayWait: search.hasModuleTypes},
		point.SystemCalls:     {expand: search.syscalls},
		point.KernelFunctions: {expand: inKernel},
		point.UserFunctions:   {expand: search.userFunctions},
		point.StaticProbes:    {expand: search.staticProbes},
		point.Timers:          {expand: timer},
		point.Counters:        {expand: search.perfEvents},
		point.Watchpoints:     {expand: search.watchpoint},
		point.Iterators:       {expand: search.iterators},
		point.Hooks:           {expand: search.hooks},
	}
}

// inKernel gives the target of points in functions of the kernel: whole calls, entries or returns.
func inKernel(s search, p *plan.Pattern) []*Target {
	if kindOf(p).Calls() {
		return s.kernelSpan(p)
	}
	return s.kernelFunctions(p)
}
