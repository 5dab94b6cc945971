package diff

import "fmt"

// What tests do to bring about events of the kernel with known values.

// A Deed is something that the tests of this package do to bring about events of the kernel with values of their
// choice.
type Deed struct {
	// Name is a word for it in the names of tests.
	Name string
	// Sites are the points at which it is seen.
	Sites []Site
	// Values are those of an input.
	Values []Field
}

func intField(path string, from, bits int, signed bool) Field {
	return Field{Path: path, From: from, Bits: bits, Signed: signed}
}

func textField(path string, from int, abi string) Field {
	return Field{Path: path, From: from, ABI: abi}
}

// sigurg is SIGURG, which Go sends itself.
const sigurg = 23

// Deeds are all of them.
var Deeds = []Deed{
	// A thread gets a new name. An input has that, the old one, the number of the thread, and how willing the kernel is
	// to kill it.
	{"rename", []Site{
		{Point: "tracepoint:task:task_rename", Fields: []Field{textField("e.args.newcomm", 0, "chars of a record"),
			textField("e.args.oldcomm", 1, "chars of a record"), intField("e.args.oom_score_adj", 3, 16, true)}},
		{Point: "rawtracepoint:task_rename", Fields: []Field{textField("e.args.comm", 0, "a string of the kernel"),
			textField("e.args.task.comm", 1, "chars behind a pointer"), intField("e.args.task.pid", 2, 32, true),
			intField("e.args.task.signal.oom_score_adj", 3, 16, true)}},
	}, []Field{{}}},
	// A signal is sent with an error and a code.
	{"signal", []Site{
		{Point: "tracepoint:signal:signal_generate", Where: fmt.Sprint("e.args.sig != ", sigurg),
			Fields: []Field{intField("e.args.sig", 0, 32, true), intField("e.args.errno", 1, 32, true),
				intField("e.args.code", 2, 32, true)}},
		{Point: "rawtracepoint:signal_generate", Where: fmt.Sprint("e.args.sig != ", sigurg),
			Fields: []Field{intField("e.args.sig", 0, 32, true), intField("e.args.info.si_errno", 1, 32, true),
				intField("e.args.info.si_code", 2, 32, true)}},
	}, []Field{{Bits: 32}, {Bits: 32}, {Bits: 32}}},
	// A socket listens at a port and an address of this machine.
	{"listen", []Site{
		{Point: "tracepoint:sock:inet_sock_set_state", Where: "e.args.newstate == 10", Fields: []Field{
			intField("e.args.sport", 0, 16, false), intField("e.args.family", 4, 16, false),
			intField("e.args.oldstate", 5, 32, true), intField("e.args.newstate", 6, 32, true),
			intField("e.args.saddr[1]", 1, 8, false), intField("e.args.saddr[2]", 2, 8, false),
			intField("e.args.saddr[3]", 3, 8, false)}},
	}, []Field{{Bits: 16}, {Bits: 8}, {Bits: 8}, {Bits: 8}}},
}
