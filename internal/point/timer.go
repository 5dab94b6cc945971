package point

import "github.com/startrace/startrace/internal/kernel"

// The rows of profile: and interval: in the table of kinds: forms, examples, what their events have, words of other
// tracers.

var byClock = &Way{Name: kernel.WayProfile, Use: "profile: and interval:"}

// Timers run programs by the clock.
var Timers = &Family{Name: "timers", Kinds: []*Kind{
	{
		Name: "profile", Short: "p",
		Form: "RATE", Wanted: "99hz", Max: 2,
		What:     "samples on every CPU",
		Examples: []string{"profile:99hz", "profile:10ms"},
		Gives:    []string{},
		Few:      true, EveryCPU: true,
		ListedBy: NoList, Ways: []*Way{byClock},
	},
	{
		Name: "interval", Short: "i",
		Form: "TIME", Wanted: "1s", Max: 2,
		What:     "a timer on one CPU",
		Examples: []string{"interval:1s", "interval:100ms"},
		Gives:    []string{},
		Few:      true,
		ListedBy: NoList, Ways: []*Way{byClock},
		Foreign: map[string]string{"tick": "use every(), or interval:1s", "timer": "use every(), or interval:1s"},
	},
}}
