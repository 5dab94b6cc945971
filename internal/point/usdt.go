package point

// The row of usdt: in the table of kinds: form, examples, what its events have.

// StaticProbes are those that the makers of a program put into it.
var StaticProbes = &Family{Name: "static probes", Kinds: []*Kind{{
	Name: "usdt", Short: "U",
	Form: "PROGRAM:[PROVIDER:]NAME", Wanted: "BINARY:[PROVIDER:]NAME", Max: 3, InPrograms: true,
	What:     "static probes of programs",
	Examples: []string{"usdt:c:*"},
	Gives:    []string{"args"},
	ListedBy: NoList, Ways: []*Way{byUprobe, byUprobes}, Lacking: noUprobes,
}}}
