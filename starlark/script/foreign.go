package script

// foreignWords are the words of bpftrace and DTrace that are no names here,
// with ours.
var foreignWords = map[string]string{
	"avg": "here it is mean", "quantize": "here it is hist", "lquantize": "here it is lhist",
	"llquantize": "here it is hist(sub = 3)", "stddev": "see stats", "maxof": "here it is highest", "minof": "here it is lowest",
	"tseries": "use every() and show(x.take())",
	"kstack":  "here it is e.stack()", "ustack": "here it is e.ustack()", "stack": "here it is e.stack()",
	"jstack": "here it is e.ustack()",
	"nsecs":  "here it is e.time", "timestamp": "here it is e.time", "vtimestamp": "here it is e.time",
	"walltimestamp": "use strftime()", "elapsed": "here it is e.time - T0, with T0 = now() at the top",
	"pid": "here it is e.pid", "tid": "here it is e.tid", "ppid": "here it is e.ppid",
	"uid": "here it is e.uid", "gid": "here it is e.gid", "comm": "here it is e.comm",
	"execname": "here it is e.comm", "cpu": "here it is e.cpu", "curtask": "here it is e.task",
	"curthread": "here it is e.task", "curlwpsinfo": "here it is e.task", "curpsinfo": "here it is e.task",
	"cgroup": "here it is e.cgroup", "args": "here it is e.args", "retval": "here it is e.ret",
	"probe_name": "here it is e.probe", "probefunc": "here it is e.func", "probename": "here it is e.probe",
	"probeprov": "here it is e.probe", "probemod": "here it is e.probe", "func": "here it is e.func",
	"errnum": "here it is -e.ret", "arg0": "here it is e.args[0]", "arg1": "here it is e.args[1]", "arg2": "here it is e.args[2]",
	"arg3": "here it is e.args[3]", "arg4": "here it is e.args[4]", "arg5": "here it is e.args[5]",
	"copyinstr": "here it is cstr", "stringof": "here it is cstr", "copyin": "here it is mem",
	"kptr": "not needed: the address decides how it is read", "uptr": "not needed: the address decides how it is read",
	"buf": "here it is mem", "join": `here it is " ".join(e.args.argv)`, "ntop": "here it is inet", "macaddr": "here it is mac",
	"reg": "here it is e.regs.NAME", "kaddr": "use ksym", "uaddr": "use usym", "cat": "a script reads no files",
	"system": "a script runs nothing; see --allow-run", "clear": "here it is x.clear()", "delete": "here it is t.pop(k)",
	"zero": "here it is x.clear()", "trunc": "here it is show(x, top = n)", "normalize": "here it is unit=",
	"printa": "here it is show", "trace": "here it is print", "tracemem": "here it is mem",
	"strncmp": "compare with ==, or use startswith", "strlen": "here it is len", "time": "use strftime",
	"interval": "here it is every(), or the point interval:1s", "tick": "here it is every()", "BEGIN": "the top level of the script runs at the beginning",
	"END": "here it is at_exit(fn)", "null": "here it is None", "NULL": "here it is None", "true": "here it is True", "false": "here it is False",
}

// foreignSyntax are operators of C and its kin, the longest first.
var foreignSyntax = []struct{ text, hint string }{
	{"&&", "here it is: and"},
	{"||", "here it is: or"},
	{"->", "here it is: ."},
	{"++", "here it is: += 1"},
	{"--", "here it is: -= 1"},
	{"/*", "comments begin with #"},
	{"//", "comments begin with #"},
	{"@", "maps are containers here: n = count() at the top, n[key].add() in a function"},
	{"?", "here it is: A if CONDITION else B"},
	{"$", "variables have no $ here"},
	{"!", "here it is: not"},
	{"{", "functions are: def f(e): and an indented block, or lambda e: expression"},
}
