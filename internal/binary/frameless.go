package binary

import (
	"slices"

	"github.com/startrace/startrace/internal/elffile"
)

// Functions of the C library at whose returns no probe may stand, with the reason, a row each.
//
// A return probe takes the word that lies on top of the stack at the entry for
// a return address, and puts its own there. Some functions are not called, or
// keep that word for later: a probe would end the program.

// frameless are functions of C libraries for which that is so. longjmp and
// setcontext return to what their partners kept, long after the probe's place
// is gone.
var frameless = map[string]string{
	"_start":                     "the program begins there, nothing called it",
	"_dl_start":                  "the program begins there, nothing called it",
	"_dl_start_user":             "it is jumped to, not called",
	"__start_context":            "it is jumped to, not called",
	"__restore":                  "a signal's handler returns to it, nothing calls it",
	"__restore_rt":               "a signal's handler returns to it, nothing calls it",
	"__default_rt_sa_restorer":   "a signal's handler returns to it, nothing calls it",
	"setjmp":                     "it keeps its return address for longjmp",
	"_setjmp":                    "it keeps its return address for longjmp",
	"__setjmp":                   "it keeps its return address for longjmp",
	"sigsetjmp":                  "it keeps its return address for longjmp",
	"__sigsetjmp":                "it keeps its return address for longjmp",
	"getcontext":                 "it keeps its return address for setcontext",
	"__getcontext":               "it keeps its return address for setcontext",
	"swapcontext":                "it keeps its return address for setcontext",
	"__swapcontext":              "it keeps its return address for setcontext",
	"_dl_runtime_resolve":        "it jumps to the function that it finds",
	"_dl_runtime_resolve_fxsave": "it jumps to the function that it finds",
	"_dl_runtime_resolve_xsave":  "it jumps to the function that it finds",
	"_dl_runtime_resolve_xsavec": "it jumps to the function that it finds",
	"_Unwind_RaiseException":     "it leaves by return addresses",
	"_Unwind_Resume":             "it leaves by return addresses",
	"_Unwind_Resume_or_Rethrow":  "it leaves by return addresses",
	"_Unwind_ForcedUnwind":       "it leaves by return addresses",
	"_Unwind_Backtrace":          "it reads return addresses",
}

// callingBack are functions of C libraries that call what they were given. An exception of C++ that passes them looks
// for their return address, and ends the program where it finds that of a probe.
var callingBack = map[string]bool{
	"qsort": true, "qsort_r": true, "__qsort_r": true, "bsearch": true, "lfind": true, "lsearch": true,
	"tsearch": true, "tfind": true, "tdelete": true, "twalk": true, "twalk_r": true, "tdestroy": true,
	"ftw": true, "ftw64": true, "nftw": true, "nftw64": true, "scandir": true, "scandir64": true, "scandirat": true,
	"scandirat64": true, "glob": true, "glob64": true, "dl_iterate_phdr": true, "pthread_once": true,
	"__pthread_once": true, "call_once": true,
}

// callsBack reports whether a function is one of them.
func callsBack(e *elffile.File, fn elffile.Function) bool {
	return slices.ContainsFunc(e.Aliases(fn.Addr), func(name string) bool { return callingBack[name] })
}

// noReturnProbe says why a function's returns cannot be probed, "" if they can.
func noReturnProbe(e *elffile.File, fn elffile.Function) string {
	if fn.Addr == e.Entry() {
		return frameless["_start"]
	}
	for _, name := range e.Aliases(fn.Addr) {
		if why := frameless[name]; why != "" {
			return why
		}
	}
	return ""
}
