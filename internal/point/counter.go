package point

import "github.com/startrace/startrace/internal/kernel"

// The row of software: and hardware: in the table of kinds: form, examples, what its events have, words of other
// tracers (`Foreign`).

var byCounter = &Way{Name: kernel.WayHardware, Use: "hardware:, counters of the CPU",
	Instead: "software: and profile:; virtual machines often have no counters"}

// Counters are events that are counted, of which each so many-th runs a program. Those of the kernel need what the
// clock needs.
var Counters = &Family{Name: "counters", Kinds: []*Kind{
	{
		Name: "software", Short: "s",
		Form: "EVENT[:N]", Max: 2,
		What:     "events that the kernel counts",
		Examples: []string{"software:page-faults:1"},
		Gives:    []string{},
		Set:      "events of the kernel", Bare: true, Few: true,
		ListedBy: NoList, Ways: []*Way{byClock},
	},
	{
		Name: "hardware", Short: "h",
		Form: "EVENT[:N]", Max: 2,
		What:     "events that the CPU counts",
		Examples: []string{"hardware:cache-misses:10000"},
		Gives:    []string{},
		Set:      "events of the CPU", Bare: true, Few: true,
		ListedBy: NoList, Ways: []*Way{byCounter},
		Foreign: map[string]string{
			"perf": "use hardware:EVENT, software:EVENT or profile:99hz", "cpu": "use hardware:EVENT",
		},
	},
}}
