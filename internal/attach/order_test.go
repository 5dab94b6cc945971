package attach

import (
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/bpfgen"
	"github.com/startrace/startrace/bpfgen/tree"
)

// Programs are attached so that those of one point run in the order of the probes, by the kind of point: what the
// kernel puts at the head of its list is attached last first. Ends of a probe come before its starts.
func TestOrderOfAttaching(t *testing.T) {
	at := func(probe int, way tree.Way, multi bool) *program {
		return &program{Program: &tree.Program{Probe: probe, Attach: tree.Attach{Way: way}}, multi: multi}
	}
	by := func(mech tree.AttachKind) tree.Way { return &tree.Functions{Mech: mech} }
	part := func(probe, part int, mech tree.AttachKind) *program {
		p := at(probe, by(mech), false)
		p.Part = part
		return p
	}
	for _, test := range []struct {
		name     string
		programs []*program
		asEntry  bool // returns of links run as entries do
		want     string
	}{
		{"tracepoints", []*program{at(0, tree.Tracepoint{}, false), at(1, tree.Tracepoint{}, false)}, true,
			"0 1"},
		{"kprobes", []*program{at(0, by(tree.AttachKprobe), true), at(1, by(tree.AttachKprobe), false),
			at(2, by(tree.AttachKprobe), true)}, true, "2 1 0"},
		{"return probes", []*program{at(0, by(tree.AttachKretprobe), false), at(1, by(tree.AttachKretprobe), false)},
			true, "0 1"},
		{"links of them", []*program{at(0, by(tree.AttachKretprobe), true), at(1, by(tree.AttachKretprobe), true)},
			true, "1 0"},
		{"before 6.14", []*program{at(0, by(tree.AttachKretprobe), true), at(1, by(tree.AttachKretprobe), true)}, false,
			"0 1"},
		{"calls", []*program{at(0, by(tree.AttachFexit), false), at(0, by(tree.AttachFentry), false),
			at(1, by(tree.AttachFexit), false), at(1, by(tree.AttachFentry), false)}, true, "1 1 0 0"},
		{"functions of an event", []*program{part(0, 0, tree.AttachUprobe), part(0, 1, tree.AttachUprobe),
			part(1, 0, tree.AttachUprobe)}, true, "1 0/1 0"},
		{"and at returns", []*program{part(0, 0, tree.AttachKretprobe), part(0, 1, tree.AttachKretprobe),
			part(1, 0, tree.AttachKretprobe)}, true, "0 0/1 1"},
		{"iterators last", []*program{at(0, tree.Iterator{}, false), at(1, by(tree.AttachUprobe), false)}, true, "1 0"},
	} {
		l := &Loaded{unit: &bpfgen.Unit{Tree: &tree.Unit{}}, programs: test.programs,
			opts: Options{ReturnsAsEntries: func() bool { return test.asEntry }}}
		var got []string
		for _, p := range l.selected(func(*program) bool { return true }) {
			name := fmt.Sprint(p.Probe)
			if p.Part > 0 {
				name += fmt.Sprint("/", p.Part)
			}
			got = append(got, name)
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: got %s, want %s", test.name, s, test.want)
		}
	}
}

// Where returns of links run the other way round, probes that share a function have no sessions.
func TestSessionsThatTurnRound(t *testing.T) {
	session := func(probe int, function string) *tree.Program {
		return &tree.Program{Probe: probe, Attach: tree.Attach{Way: &tree.Functions{Mech: tree.AttachKprobe,
			Session: &tree.Session{}, Places: []tree.Place{{Func: function}}}}}
	}
	one, two, other := session(0, "f"), session(1, "f"), session(2, "g")
	for _, asEntry := range []bool{false, true} {
		l := &Loaded{unit: &bpfgen.Unit{Tree: &tree.Unit{Programs: []*tree.Program{one, two, other}}},
			opts: Options{ReturnsAsEntries: func() bool { return asEntry }}}
		if l.turnsRound(one) == asEntry || l.turnsRound(two) == asEntry || l.turnsRound(other) {
			t.Errorf("returns as entries %v: %v %v %v", asEntry, l.turnsRound(one), l.turnsRound(two),
				l.turnsRound(other))
		}
	}
}
