package accept

import (
	"regexp"
	"strings"
	"testing"
)

// A telling is a script with a workload, and what it must print.
type telling struct {
	script string
	flags  []string
	work   []string // getppid 4, if there is none
	stdout []string // patterns of lines
	stderr []string
	silent bool // nothing was lost, and nothing is said
}

func (c telling) run(t *testing.T) {
	t.Helper()
	work := c.work
	if work == nil {
		work = []string{"getppid", "4"}
	}
	e, _ := traced(t, c.script, c.flags, work...)
	for _, pattern := range c.stdout {
		e.has(t, `(?m)^`+pattern+`$`)
	}
	for _, pattern := range c.stderr {
		if !regexp.MustCompile(`(?m)^` + pattern + `$`).MatchString(e.stderr) {
			t.Errorf("stderr has nothing like %s:\n%s\nstdout: %s", pattern, excerpt(e.stderr), excerpt(e.stdout))
		}
	}
	// Before 5.12 nobody knows whether something was lost, and that is said.
	said := uncounted.ReplaceAllString(e.stderr, "")
	if c.silent && e.skipped(t) == 0 && strings.Contains(said, "startrace: ") {
		t.Errorf("stderr says something of a run without losses:\n%s", excerpt(e.stderr))
	}
}

var uncounted = regexp.MustCompile(`(?m)^startrace: this kernel does not count the events that it drops itself.*$`)

func tell(t *testing.T, cases map[string]telling) {
	needTracing(t)
	for name, c := range cases {
		t.Run(name, c.run)
	}
}

// Points as values: the first that there is, events of events, spans in events, fields that only some points have.
func TestPoints(t *testing.T) {
	missing := []string{"opens", "3", "1", t.TempDir()}
	tell(t, map[string]telling{
		"first": {
			script: `
own = event(("syscall:getppid", lambda e: record(x = 5)))
probe(first("tracepoint:no:such", "syscall:getppid"), lambda e: print("call", e.probe))
probe(first("tracepoint:no:such", own), lambda e: print("own", e.x, e.comm))
`,
			stdout: []string{`call syscall:getppid`, `own 5 wl-getppid`},
		},
		"event of an event": {
			script: `
failed = event(("syscall:openat", lambda e: record(err = -e.ret) if e.ret < 0 else None))
twice = event((failed, lambda e: record(twice = 2 * e.err, who = e.comm)))
probe(twice, lambda e: print("twice", e.twice, e.who, e.func), where = lambda e: e.who == "wl-opens")
`,
			work: missing, stdout: []string{`twice 4 wl-opens openat`},
		},
		"span in an event": {
			script: `
call = span("tracepoint:syscalls:sys_enter_getppid", "tracepoint:syscalls:sys_exit_getppid")
taken = event((call, lambda e: record(long = e.duration > 0, started = e.start.comm, result = e.args.ret)))
probe(taken, lambda e: print("taken", e.long, e.started, e.result == e.ppid))
`,
			stdout: []string{`taken True wl-getppid True`},
		},
		"fields of some points": {
			script: `
n = count(by = ("call", "has", "or", "is"))
probe("syscall:{getppid,openat}", kernel = lambda e: n[e.func, hasattr(e.args, "dfd"), getattr(e.args, "dfd", 77),
                                                       e.args.dfd].add(),
      where = lambda e: e.comm.startswith("wl-"))
probe("syscall:{getppid,openat}", lambda e: print("user", e.func, hasattr(e.args, "dfd"), getattr(e.args, "dfd", 77),
                                                  e.args.dfd),
      where = lambda e: e.comm.startswith("wl-"))
`,
			work: missing, stdout: []string{`openat +True +-100 +-100 +3`, `user openat True -100 -100`},
		},
		"fields of the others": {
			script: `
n = count(by = ("call", "has", "or", "is"))
probe("syscall:{getppid,openat}", kernel = lambda e: n[e.func, hasattr(e.args, "dfd"), getattr(e.args, "dfd", 77),
                                                       e.args.dfd].add(),
      where = lambda e: e.comm.startswith("wl-"))
`,
			stdout: []string{`call +has +or +is +n`, `getppid +False +77 +None +4`},
		},
		"arguments by position": {
			script: `
probe("syscall:openat", lambda e: print("position", e.args[0] == AT_FDCWD, e.args[0] == e.args.dfd),
      where = lambda e: e.comm == "wl-opens")
`,
			work: missing, stdout: []string{`position True True`},
		},
		"start": {
			script: `
starts, ends = count(), count()
probe("syscall:getppid", lambda e: ends.add(), start = lambda e: starts[e.comm, e.func].add(),
      where = lambda e: e.comm == "wl-getppid")
`,
			stdout: []string{`wl-getppid +getppid +4`, `ends: 4`},
		},
		"kernel types": {
			script: `
n = count()
task = "struct task_struct"

def same(e):
    p = e.args.p
    n[cast(task, e.args[0]).comm, container_of(p.tasks, task, "tasks").comm, sizeof("struct list_head"), p.cred.uid.val,
      p.signal.rlim[3].rlim_cur > 0].add()

probe("rawtracepoint:sched_process_exec", kernel = same)
probe("rawtracepoint:sched_process_exec",
      lambda e: print("types", container_of(e.args.p.tasks, "struct task_struct", "tasks").comm,
                      sizeof("struct list_head")))
`,
			stdout: []string{`workload +workload +16 +0 +True +1`, `types workload 16`},
		},
		"closures": {
			script: `
for n in [1, 2]:
    probe("syscall:getppid", lambda e: print("closure", e.times), kernel = lambda e, n = n: record(times = 10 * n))
`,
			stdout: []string{`closure 10`, `closure 20`},
		},
	})
}

// Spans with a bound, a timeout, and starts that are followed by others. A text of odd length stands before the name.
//
// > `span(start, end, key = fn or (start_fn, end_fn), again = "last", size = 10240, timeout = None)` makes one event of
// > two.
// > `e` is the end, `e.start` is the start, and `e.duration` is the time between them.
func TestSpanLimits(t *testing.T) {
	tell(t, map[string]telling{
		"size": {
			script: `
life = span("tracepoint:syscalls:sys_enter_openat", "tracepoint:syscalls:sys_exit_getppid", key = lambda e: e.comm,
            size = 2)
n = cell(0)

def number(e):
    n.add(1)
    return n.get()

many = span("tracepoint:syscalls:sys_enter_getppid", "tracepoint:syscalls:sys_exit_execve", key = number, size = 2)
probe(many, lambda e: print("never"))
`,
			// Calls of getppid by other processes can take the room of two, since a key can be of any process.
			stderr: []string{`startrace: [2-4] calls of .* lost: too many were open at once ` +
				`\(.*script.star:10:\d+\).*`},
		},
		"again first": {
			script: `
life = span("tracepoint:syscalls:sys_enter_getppid", "tracepoint:syscalls:sys_exit_exit_group", again = "first")
one = span("rawtracepoint:sched_process_exec", "tracepoint:syscalls:sys_enter_getppid", key = lambda e: e.pid,
           again = "first")
probe(one, lambda e: print("one", e.probe, e.comm, e.start.comm, e.duration > 0))
`,
			stdout: []string{`one tracepoint:syscalls:sys_enter_getppid wl-getppid workload True`},
		},
		"timeout": {
			script: `
life = span("rawtracepoint:sched_process_exec", "tracepoint:syscalls:sys_enter_getppid", key = lambda e: e.pid,
            timeout = "1us")
probe(life, lambda e: print("too late"))
`,
			stderr: []string{`startrace: 1 call of .* took longer than timeout= \(.*script.star:2:8\)`},
		},
	})
}

// What cannot be done is counted, reported with its line, and the rest goes on.
func TestMishaps(t *testing.T) {
	opens := []string{"opens", "30", "1", t.TempDir()}
	calls := []string{"getppid", "1000"}
	const numbered = `
i, n = cell(0), total()

def number(e):
    i.add(1)
    return i.get()
`
	tell(t, map[string]telling{
		"full table": {
			script: numbered + `
full = table(size = 16)

def note(e):
    full[number(e)] = 1
    n.add(1)

probe("syscall:getppid", kernel = note)
at_exit(lambda: print("kept", len(full.items())))
`,
			work: calls, stdout: []string{`kept 16`, `n: 1000`},
			stderr: []string{`startrace: 984 updates of full lost: ` +
				`all its entries are in use \(.*script.star:11:5\).*`},
		},
		"full aggregation": {
			script: numbered + `
full = count(size = 16)

def note(e):
    full[number(e)].add()
    n.add(1)

probe("syscall:getppid", kernel = note)
at_exit(lambda: print("kept", len(full.items())))
`,
			work: calls, stdout: []string{`kept 16`, `n: 1000`},
			stderr: []string{`startrace: 984 updates of full lost: all its entries are in use ` +
				`\(.*script.star:11:\d+\).*`},
		},
		"oldest goes": {
			script: numbered + `
newest = table(size = 16, lru = True)

def note(e):
    newest[number(e)] = 1
    n.add(1)

probe("syscall:getppid", kernel = note)
at_exit(lambda: print("kept", 0 < len(newest.items()), len(newest.items()) < 1000))
`,
			work: calls, stdout: []string{`kept True True`, `n: 1000`},
			stderr: []string{`startrace: newest may have dropped its oldest entries, which is not counted: 1000 were ` +
				`put into it, it has room for 16`},
		},
		"room for all": {
			script: numbered + `
newest = table(size = 1 << 16, lru = True)
sums = table(size = 1 << 16, lru = True)

def note(e):
    newest[number(e)] = 1
    sums[number(e)] += 1
    n.add(1)

probe("syscall:getppid", kernel = note)
at_exit(lambda: print("kept", len(newest.items()), len(sums.items())))
`,
			work: calls, stdout: []string{`kept 1000 1000`, `n: 1000`}, silent: true,
		},
		"division by zero": {
			script: numbered + `
probe("syscall:getppid", kernel = lambda e: n.add(100 // (number(e) % 2)))
`,
			work: calls, stdout: []string{`n: 50000`},
			stderr: []string{`startrace: 500 events of syscall:getppid ended early: division by zero ` +
				`\(.*script.star:8:\d+\).*`},
		},
		"faulting string": {
			script: `
texts, after, lengths = count(), total(), total()

def note(e):
    text = cstr(8)
    texts[text].add()
    after.add(1)
    lengths.add(len(text))

probe("syscall:getppid", kernel = note)
probe("syscall:getppid", lambda e: print("is", e.text, e.text == FAULT, bool(e.text)),
      kernel = lambda e: record(text = cstr(8)))
`,
			stdout: []string{`<fault> +4`, `after: 4`, `lengths: 0`, `is <fault> True True`},
			stderr: []string{`startrace: 4 events of syscall:getppid ended early: FAULT where a string was wanted ` +
				`\(.*script.star:8:\d+\).*`},
		},
		"missing key": {
			script: `
t, n = table(), total()

def note(e):
    n.add(1)
    n.add(t[e.pid])

probe("syscall:getppid", kernel = note)
`,
			stdout: []string{`n: 4`},
			stderr: []string{`startrace: 4 events of syscall:getppid ended early: .*key.* \(.*script.star:6:\d+\).*`},
		},
		"cut string": {
			script: `
limits(string = 16)
opened = count()
probe("syscall:openat", kernel = lambda e: opened[e.args.filename].add(), where = lambda e: e.comm == "wl-opens")
probe("syscall:openat", lambda e: print("cut", e.args.filename), where = lambda e: e.comm == "wl-opens")
at_exit(lambda: print("all cut:", [len(name) for name, n in opened.items()], sum([n for _, n in opened.items()])))
`,
			work: opens, stdout: []string{`cut /.{15}…`, `all cut: \[16\] 30`},
		},
	})
}
