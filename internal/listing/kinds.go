package listing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/point"
)

// Which points of each kind there are (`finders`), and the list of all kinds.

// A finder finds the points of a kind that match what follows its name.
type finder func(s *Source, r *Result, k *point.Kind, rest string) error

// finders are those of all families.
var finders map[*point.Family]finder

func init() { // the functions refer to the table
	finders = map[*point.Family]finder{
		point.Tracepoints: (*Source).tracepoints, point.RawTracepoints: (*Source).rawTracepoints,
		point.SystemCalls: (*Source).syscalls, point.KernelFunctions: (*Source).kernelFunctions,
		point.UserFunctions: (*Source).userFunctions, point.StaticProbes: (*Source).staticProbes,
		point.Timers: (*Source).forms, point.Counters: (*Source).perfEvents, point.Watchpoints: (*Source).forms,
		point.Iterators: (*Source).iterators, point.Hooks: (*Source).hooks,
	}
}

// findPoints adds to r the points of a kind that match what follows its name.
func (s *Source) findPoints(r *Result, k *point.Kind, rest string) error {
	find := finders[k.Family]
	if find == nil {
		panic("nothing lists the points of the kind " + k.Name)
	}
	return find(s, r, k, rest)
}

func (s *Source) summarize(r *Result, list []*point.Kind) {
	counts := map[string]int{} // of each set, where that is known
	for _, k := range list {
		sum := &Summary{Kind: k.Name, Short: k.Short, What: k.What, Form: k.Name + ":" + k.Form, Examples: k.Examples}
		r.Kinds = append(r.Kinds, sum)
		if k.Set == "" {
			continue
		}
		if n, counted := counts[k.Set]; counted {
			sum.Count = &n
			continue
		}
		found := s.count(r, k)
		if found == nil {
			continue
		}
		n := len(found)
		sum.Count, counts[k.Set] = &n, n
		if len(list) == 1 {
			sum.Groups = groups(found)
		}
	}
}

// count finds all points of a kind; nil if they cannot be known.
func (s *Source) count(r *Result, k *point.Kind) []*Point {
	quiet := *s
	quiet.Verbose = false
	all := &Result{}
	if err := quiet.findPoints(all, k, "*"); err != nil {
		r.problem(err)
		return nil
	}
	for _, err := range all.Problems {
		r.problem(err)
	}
	if len(all.Points) == 0 && len(all.Problems) > 0 {
		return nil
	}
	return append([]*Point{}, all.Points...)
}

// groups counts by category or module, the largest first.
func groups(points []*Point) (out []Group) {
	counts := map[string]int{}
	for _, p := range points {
		switch {
		case point.Must(p.Kind).Categories:
			counts[strings.Split(p.Name, ":")[1]]++
		case p.Module != "":
			counts["module "+p.Module]++
		}
	}
	for name, n := range counts {
		out = append(out, Group{name, n})
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	return out
}

// kindAlone shows a kind; its points if they are few.
func (s *Source) kindAlone(r *Result, k *point.Kind) error {
	s.summarize(r, []*point.Kind{k})
	if k.Few {
		return s.findPoints(r, k, "*")
	}
	return nil
}

// forms lists examples of a kind whose points are made up by the script.
func (s *Source) forms(r *Result, k *point.Kind, rest string) error {
	list := k.Examples
	if rest != "" && !naming.IsPattern(rest) {
		list = []string{k.Name + ":" + rest}
	}
	for _, name := range list {
		p := &Point{Name: name, Kind: k.Name, Notes: []string{k.What + "; the form is " + k.Name + ":" + k.Form}}
		p.Fields = []Field{{Name: "e.ip", Type: "int", Size: 8, Note: "ksym(e.ip) is the function"},
			{Name: "e.usermode", Type: "bool"}}
		r.Points = append(r.Points, p)
	}
	return nil
}
