package infer

import (
	"github.com/startrace/startrace/bpfgen/fold"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/plan"
)

// The table of builtins: for each name a row with what it is in a kernel half and in a user half, and what to do
// instead where one has it not.

// What the arguments of builtins are.
var (
	anInt    = [][]string{{"int"}}
	twoInts  = [][]string{{"int"}, {"int"}}
	aText    = [][]string{{"string"}}
	sequence = [][]string{{"string", "tuple", "list", "dict", "stack", "bytes"}}
)

// rows are the builtins, a row each; those of one kind stand together.
func rows() []builtin {
	return []builtin{
		// Numbers, that either half computes with.
		{name: "abs", kernel: callAbs, user: eitherHalf, folds: fold.Abs, wants: [][]string{{"int", "float"}}},
		{name: "bool", kernel: callBool, user: eitherHalf, folds: fold.Bool},
		{name: "int", kernel: callInt, folds: fold.Int},
		{name: "min", kernel: extreme(tree.OpMin), user: extremeIn, folds: fold.Min, traits: goesThroughOne},
		{name: "max", kernel: extreme(tree.OpMax), user: extremeIn, folds: fold.Max, traits: goesThroughOne},
		{name: "ntohs", kernel: swapped(16), user: eitherHalf},
		{name: "ntohl", kernel: swapped(32), user: eitherHalf},
		{name: "int32", kernel: word(true), user: eitherHalf},
		{name: "uint32", kernel: word(false), user: eitherHalf},
		{name: "len", kernel: callLen, user: lenOf, folds: fold.Len, wants: sequence, gives: "int"},
		{name: "range", kernel: callRange, wants: [][]string{{"int"}, {"int"}, {"int"}}},
		{name: "record", kernel: callRecord},
		{name: plan.UpdateBuiltin, kernel: callUpdate, user: updates},

		// Types, which a kernel half knows when it is compiled.
		{name: "hasattr", unwalked: callHasOrGetAttr, user: hasOrGetAttr, traits: asksType},
		{name: "getattr", unwalked: callHasOrGetAttr, user: hasOrGetAttr, traits: asksType},
		{name: "type", kernel: callType, user: typeIn, gives: "string", traits: asksType},
		{name: "dir", traits: asksType},
		{name: "sizeof", kernel: callSizeof, user: ofName},

		// Memory of the kernel.
		{name: "cstr", kernel: callCstr, user: eitherHalf, traits: readsKernel},
		{name: "cast", kernel: callCast, user: castIn, traits: readsKernel},
		{name: "mem", kernel: callMem, user: eitherHalf, traits: readsKernel},
		{name: "path", kernel: callPath, user: eitherHalf, traits: readsKernel},
		{name: "container_of", kernel: callContainerOf, user: eitherHalf, traits: readsKernel},
		{name: "uaddr", kernel: callUaddr, user: ofName, traits: readsKernel},

		// Labels: kernel halves keep the number, readers see the text.
		{name: "errno", kernel: label("errno", "n"), user: errnoOf, wants: anInt},
		{name: "signal", kernel: label("signal", "n"), wants: anInt, gives: "string"},
		{name: "syscall_name", kernel: label("syscall_name", "n"), wants: anInt, gives: "string"},
		{name: "dev_name", kernel: label("dev_name", "dev"), wants: anInt, gives: "string"},
		{name: "ksym", kernel: label("ksym", "addr"), wants: anInt, gives: "string"},
		{name: "usym", wants: twoInts, gives: "string", deed: Machine,
			instead: ": e.ustack(1)[0].name is the function that the program is in"},
		{name: "names", kernel: callNames, user: namesOf, wants: [][]string{{"int"}, {"string"}}},
		{name: "inet", kernel: callInet, gives: "string"},
		{name: "mac", kernel: callMac, gives: "string"},
		{name: "strftime", kernel: callStrftime, wants: [][]string{{"string"}, {"int"}}, gives: "string"},

		// Text.
		{name: "matches", kernel: callMatches, wants: [][]string{{"string"}, {"string"}}},
		{name: "str", gives: "string", traits: makesText,
			instead: ": send the value, text is made of it in the handler"},
		{name: "repr", gives: "string", traits: makesText, instead: ": send the value"},
		{name: "sprintf", wants: aText, gives: "string", traits: makesText | formats,
			instead: ": send the values, the handler makes text of them"},
		{name: "chr", wants: anInt, gives: "string"},
		{name: "ord", wants: [][]string{{"string", "bytes"}}, gives: "int"},
		{name: "bytes"},

		// Values of user space.
		{name: "float", gives: "float", instead: ": kernel halves compute with ints; divide in the handler"},
		{name: "hash", gives: "int"},
		{name: "tuple", gives: "tuple", traits: goesThrough},
		{name: "list", gives: "list", traits: goesThrough},
		{name: "dict", gives: "dict"},
		{name: "set", traits: goesThrough},
		{name: "sorted", gives: "list", traits: goesThrough, instead: ": sort in the handler"},
		{name: "reversed", traits: goesThrough},
		{name: "enumerate", traits: goesThrough},
		{name: "zip"},
		{name: "sum", traits: goesThrough},
		{name: "any", traits: goesThrough},
		{name: "all", traits: goesThrough},

		// What is traced, and what a script asks of who runs it.
		{name: "probe", deed: Declares,
			atTop: "declare it at the top level or in main(), and switch it by p.disable() and p.enable()"},
		{name: "event", deed: Declares}, {name: "first", deed: Declares},
		{name: "span", deed: Declares}, {name: "limits", deed: Declares}, {name: "types", deed: Declares},
		{name: "struct", deed: Declares},
		{name: "usage", deed: Declares},
		{name: "expression", deed: Declares}, {name: "spelling", deed: Declares}, {name: "is_duration", deed: Declares},
		{name: "flag", deed: Declares, instead: ": give it a name at the top, outside of the function"},
		{name: "table"}, {name: "cell"}, {name: "count"}, {name: "total"}, {name: "mean"}, {name: "lowest"},
		{name: "highest"}, {name: "stats"}, {name: "hist"}, {name: "lhist"}, {name: "quantiles"}, {name: "group"},
		{name: "fstype", deed: Machine}, {name: "diskname", deed: Machine},

		// Times.
		{name: "duration", instead: ": write 5 * MSEC, or give duration(…) a name outside of the function"},
		{name: "now", gives: "int", deed: Elapses, instead: ": here it is e.time"},
		{name: "every", deed: Later}, {name: "after", deed: Later}, {name: "at_exit", deed: Later},
		{name: "exit", wants: anInt, deed: Later},

		// The world outside.
		{name: "print", deed: Outside, traits: makesText},
		{name: "printf", wants: aText, deed: Outside, traits: makesText | formats},
		{name: "announce", deed: Outside}, {name: "show", deed: Outside}, {name: "columns", deed: Outside},
		{name: "write_file", deed: Outside}, {name: "append_file", deed: Outside}, {name: "run", deed: Outside},
		{name: "send_signal", kernel: callSendSignal, deed: Outside},
		{name: "proc", wants: anInt, deed: Machine, instead: ": e.task has what the kernel knows of the process"},
		{name: "fail", deed: Ends},
	}
}

func init() {
	for _, f := range rows() {
		builtins[f.name] = &f
	}
}
