package point

import "github.com/startrace/startrace/internal/kernel"

// The row of watchpoint: in the table of kinds: form, examples, what its events have, words of other tracers.

var byWatchpoint = &Way{Name: kernel.WayWatchpoint, Use: "watchpoint:"}

// Watchpoints are accesses to memory, which the CPU notices by its debug registers.
var Watchpoints = &Family{Name: "watchpoints", Kinds: []*Kind{{
	Name: "watchpoint", Short: "w",
	Form: "ADDRESS|SYMBOL:LENGTH:rwx", Wanted: "ADDRESS:LENGTH:rw", Min: 3, Max: 4,
	What:     "accesses of memory",
	Examples: []string{"watchpoint:jiffies:8:w", "watchpoint:0xffffffff81000000:8:rw"},
	Gives:    []string{},
	Few:      true,
	ListedBy: NoList, Ways: []*Way{byWatchpoint},
	Foreign: map[string]string{"asyncwatchpoint": "use watchpoint"},
}}}
