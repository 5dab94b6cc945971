package points

import (
	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// The points iter:NAME, lists of the kernel, and those that need something named (`ofOne`).

// An Iterator is a list of the kernel's.
type Iterator struct {
	onePoint
	// Of is the list, with the types of its entries.
	Of kernel.TypedPoint
}

// iterators gives the targets of iter:NAME.
func (s search) iterators(p *plan.Pattern) []*Target {
	patterns(p)
	var out []*Target
	for _, it := range s.matchIterators(p) {
		if ofOne[it.Name] != "" {
			continue
		}
		out = append(out, &Target{Source: &Iterator{Of: it}, Text: p.Provider + ":" + it.Name, Name: it.Name,
			Pos: p.Pos})
	}
	return out
}

func (s search) matchIterators(p *plan.Pattern) []kernel.TypedPoint {
	if parts, ok := ofOne[p.Args[0]]; ok {
		refusal.Wrong(p.Pos, "%s goes over %s, which a script cannot name", p.Text, parts)
	}
	list, err := s.Facts.MatchIterators(p.Args[0])
	if err != nil {
		refusal.Wrong(p.Pos, "%s: %v", p.Text, err)
	}
	if len(list) == 0 {
		refusal.Wrong(p.Pos, "no iterator matches %s", p.Text)
	}
	return list
}

func (it *Iterator) attach(*Target) tree.Attach {
	return tree.Attach{Way: tree.Iterator{Name: it.Of.Name,
		Func: tree.Place{Func: "bpf_iter_" + it.Of.Name, BTF: uint32(it.Of.Func)}}}
}

func (it *Iterator) ArgNames(*kernel.Facts) []string { return paramNames(it.Of.Params) }

func (it *Iterator) ArgCount(*kernel.Facts) int { return len(it.Of.Params) }

// Nobodys: the entries are of all processes.
func (*Iterator) Nobodys() bool { return true }

// ofOne are the iterators that go over the parts of one thing, which must be
// given when they are attached.
var ofOne = map[string]string{
	"bpf_map_elem": "the elements of one BPF map", "bpf_sk_storage_map": "the elements of one BPF map",
	"sockmap": "the elements of one BPF map",
	"cgroup":  "the tree of one cgroup",
}
