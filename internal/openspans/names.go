package openspans

import (
	"maps"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
)

// The names by which items() shows what starts keep, made of the paths by which the script asks for it.
//
// A value has the last name of its path: e.start.args.p.a is r.a. Where one start keeps several values of that last
// name, each has as much of its path as tells it from the others of the span: `p.a` and `q.a`. A field of the event
// itself keeps its name: beside r.pid of e.start.pid that of e.start.args.pid is `args.pid`.

// entryNames are the names of what each entry of a span has beside what the script asks for.
func entryNames(span *tree.Span) []string {
	switch {
	case span.Plan != nil:
		return []string{"time"}
	case span.Nested:
		return []string{"probe", "pid", "depth"}
	}
	return []string{"probe"}
}

// waysOf are the paths of what the starts of a span keep, those of each way to start by themselves.
func waysOf(span *tree.Span) (out [][]string) {
	kept := span.Kept
	if len(kept) == 0 {
		kept = []tree.Kept{{Names: span.Names}}
	}
	for _, k := range kept {
		paths := slices.AppendSeq(slices.Clone(entryNames(span)), maps.Keys(k.Known))
		for _, slot := range k.Names {
			if slot != tree.Unnamed {
				paths = append(paths, slot)
			}
		}
		out = append(out, paths)
	}
	return out
}

// shownNames gives the names by the paths of what is kept, of each way to start.
func shownNames(ways [][]string) map[string]string {
	alike, several := map[string][]string{}, map[string]bool{} // by the last name
	for _, paths := range ways {
		first := map[string]string{}
		for _, path := range paths {
			last := endOf(path, 1)
			if !slices.Contains(alike[last], path) {
				alike[last] = append(alike[last], path)
			}
			if other, has := first[last]; has && other != path {
				several[last] = true
			}
			first[last] = path
		}
	}
	shown := map[string]string{}
	for last, paths := range alike {
		for _, path := range paths {
			shown[path] = last
			if several[last] {
				shown[path] = distinctEnd(path, paths)
			}
		}
	}
	return shown
}

// distinctEnd is the shortest end of a path, of two names at least, that none of the others has.
func distinctEnd(path string, all []string) string {
	for n := 2; n <= strings.Count(path, "."); n++ {
		end := endOf(path, n)
		if !slices.ContainsFunc(all, func(other string) bool { return other != path && endOf(other, n) == end }) {
			return end
		}
	}
	return strings.TrimPrefix(path, tree.Inner)
}

// endOf are the last n names of a path.
func endOf(path string, n int) string {
	names := strings.Split(strings.TrimPrefix(path, tree.Inner), ".")
	return strings.Join(names[max(0, len(names)-n):], ".")
}

// names gives the names by the paths of what the starts of some spans keep. Where these are of several kinds, as of a
// probe at system calls and functions, the names are alike at all of them.
func (s *Spans) names(of func(*tree.Span) bool) map[string]string {
	var ways [][]string
	for _, u := range s.units {
		for i := range u.those(of) {
			ways = append(ways, waysOf(u.Spans[i])...)
		}
	}
	return shownNames(ways)
}
