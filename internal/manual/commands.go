package manual

// The table of the commands of startrace, with their summaries, texts, forms and examples; also the first lines of
// --help.

const opening = "startrace runs a tracing script: one part of it in the kernel as eBPF, the rest as Starlark."

// forms are what can be started, as usage shows it.
var forms = []string{
	"startrace [flags] FILE|TOOL [flags and arguments of the script]",
	"startrace [flags] -e CODE [-e CODE …]",
	"startrace VERB POINT [EXPR] [flags]",
	"startrace [flags] COMMAND …",
	"startrace                             the prompt",
}

var examples = []string{
	"startrace opensnoop -c 'ls /'  a tool of the standard library, on a command",
	"startrace count 'syscall:*' --by e.func --top 10 --duration 5s  a verb",
	"startrace mine.star --threshold 5ms  a script of your own, with a flag of its own",
	`startrace -e 'n = count()' -e 'probe("syscall:read", lambda e: n[e.comm].add())'  one line`,
}

// Commands is the table of the commands, without their flags.
func Commands() []Command {
	return []Command{
		{
			Name: "list", Usage: []string{"[-v] [-p PID] [PATTERN …]"}, Takes: Points,
			Summary: "Shows what can be probed, with arguments, and layouts of the kernel's structs.",
			Examples: []string{
				"startrace list  the kinds of points, how many there are, an example of each",
				"startrace list tracepoint  one kind: its categories",
				"startrace list 'tracepoint:sched:*'  points of a kind; short names as in probe(): t:sched:*",
				"startrace list '*open*'  a name in all kinds that are quick to search",
				"startrace list -v 'syscall:open*'  with the arguments, as scripts write them, and their types",
				"startrace list -v func:vfs_read  arguments and result of a function of the kernel",
				"startrace list 'uprobe:c:*alloc*'  functions of a library, a program or a file",
				"startrace list -p 77 'usdt:*:*'  static probes of all that a process has mapped",
				"startrace list -v 'struct task_struct'  the layout of a struct, union or enum of this kernel",
				"startrace list -v 'struct task_struct.mm'  a member, and what it points at",
			},
		},
		{
			Name: "explain", Usage: []string{"[--types] [--ir[=PASS]] [--asm] FILE|TOOL|VERB [flags and arguments of " +
				"the script]"}, Takes: Scripts,
			Summary: "Says what of a script runs where, and why; nothing is traced.",
			Examples: []string{
				"startrace explain opensnoop  what runs in the kernel, what in user space",
				"startrace explain --asm opensnoop  the instructions",
				"startrace explain count 'syscall:*' --by e.func  a verb",
			},
		},
		{
			Name: "audit", Usage: []string{"FILE|TOOL|VERB [flags and arguments of the script]"}, Takes: Scripts,
			Summary: "Says what a script may do before it is run: what it reads, sends, writes and costs.",
			Text: "It says what the script reads of the kernel and of processes, what leaves the kernel with each " +
				"event, what it would write, run or change and which flag it needs for that, and how many " +
				"instructions and calls of functions of the kernel an event costs at most.\n" +
				"Nothing is traced. The top level of the script is run, without files, commands and processes.",
			Examples: []string{
				"startrace audit colleague.star  before it is run",
				"startrace audit opensnoop --format json  for programs",
			},
		},
		{
			Name: "verify", Usage: []string{"[--btf FILE] [-c CMD] [FILE|TOOL …]"}, Takes: Scripts,
			Summary: "Says which tools, or scripts, work on this kernel, by what they fall back to, or what they lack.",
			Text: "Each is compiled for this kernel, all tools of the library if none is named. Nothing is loaded.\n" +
				"--btf asks for another kernel, of which the types are in a file. Types do not tell what modules " +
				"have, which functions may not be probed, names of clones as f.part.0, and what was switched off " +
				"when the kernel started.\n" +
				"The exit code is 1 if one of them lacks something.",
			Examples: []string{
				"startrace verify  the whole library",
				"startrace verify opensnoop mine.star  a tool and a script",
				"startrace verify --btf vmlinux-6.12  for another kernel, before it is installed",
				"startrace verify --format json  an object a line",
			},
		},
		{
			Name: "doctor", Usage: []string{"[--json]"},
			Summary: "Says what can be traced on this machine by this user, why the rest cannot, and what to do.",
			Text: "The first line is the judgement, the second the remedy, where one is needed. " +
				"Each thing is tried for a moment.\n" +
				"The exit code is 0 if tracing works, if only in part, and 1 if it does not.",
			Examples: []string{"startrace doctor  in words", "startrace doctor --json  for programs"},
		},
		{
			Name: "tools", Usage: []string{""},
			Summary: "Lists the standard library, a line each: tools by the word that runs them, " +
				"modules by the word that loads them.",
			Examples: []string{"startrace tools"},
		},
		{
			Name: "doc", Usage: []string{"[NAME]", "--man"}, Takes: Names,
			Summary: "Shows the reference of the language: all of it, or one builtin, module or constant; " +
				"or a document.",
			Text: "Documents are tutorial, language, semantics, from-bpftrace, troubleshooting, rationale, " +
				"architecture, and tools/NAME for each tool.",
			Examples: []string{
				"startrace doc  all builtins",
				"startrace doc hist  one of them",
				"startrace doc slowprocs  a module and its functions",
				"startrace doc O_CREAT  a constant",
				"startrace doc tutorial | less  a document",
				"startrace doc tools/opensnoop  what a tool prints",
				"startrace doc --man > /usr/share/man/man1/startrace.1  the man page",
			},
		},
		{
			Name: "help", Usage: []string{"[COMMAND|VERB|TOOL|NAME]"}, Takes: Topics,
			Summary:  "Shows the help of a command, a verb or a tool, or what doc has.",
			Examples: []string{"startrace help list", "startrace help hist", "startrace help opensnoop"},
		},
		{
			Name: "completion", Usage: []string{"bash|zsh|fish"}, Takes: Shells,
			Summary: "Prints the completion of commands, tools, flags and points for a shell.",
			Examples: []string{
				"source <(startrace completion bash)  for this shell",
				"startrace completion bash > /usr/share/bash-completion/completions/startrace",
				"startrace completion zsh > /usr/share/zsh/site-functions/_startrace",
				"startrace completion fish > /usr/share/fish/vendor_completions.d/startrace.fish",
			},
		},
	}
}
