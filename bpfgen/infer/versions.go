package infer

import (
	"maps"
	"slices"

	"github.com/startrace/startrace/internal/plan"
)

// Versions of a user half: points that differ in what a place of the handler means get copies of their own.
//
// The host's copy of a handler says of each place whether it is read from the record, which copy of a function a call
// goes to, and whether a loop is written out. Points need not agree in that. In
//
//	def handle(e):
//	    p = e.args.p if hasattr(e.args, "p") else record(x = 1)
//	    print(p.x)
//
//	probe(["ufunc:a:with", "ufunc:a:without"], handle)
//
// p.x is read by the kernel at the first point, and is a field of a record of the script at the second. One copy for
// both would read it from the record at the second point, too, where it is not. So each walk notes what it came to at
// such places (ways). When the points are walked, walks that came to different things at one place are told apart
// (split), and the round over the plan begins anew, in which each of them has a version of the user half for itself.
// Points that agree, and those of which only one has come to a place, share a version.

// comesTo notes what the present walk has come to. A value that is sent once is read from the record wherever the walk
// comes to the place again.
func (p *projection) comesTo(at place, to any) {
	if p.trial {
		return
	}
	list := p.ways[at]
	if n := len(list); n == 0 || list[n-1].walk != p.current() {
		p.ways[at] = append(list, way{p.current(), to})
	} else if list[n-1].to != sent {
		list[n-1].to = to
	}
}

// current is the number of the present walk.
func (p *projection) current() int { return p.walks[len(p.walks)-1] }

// elsewhere reports whether an earlier walk has made a copy of a function.
func (p *projection) elsewhere(copied *plan.UserHalf) bool {
	walk, known := p.madeIn[copied]
	return known && walk != p.current()
}

// split gives walks that differ other versions, in the next round.
func (r *placedFunc) split() {
	u, next := r.pr.u, 0
	for _, p := range r.halves {
		next = max(next, p.version+1)
	}
	if u.versions[r.key()] == nil {
		u.versions[r.key()] = map[int]int{}
	}
	for _, p := range r.halves {
		groups := p.alike()
		for i := 1; i < len(groups); i++ { // the first ones keep the version
			for _, walk := range groups[i] {
				u.versions[r.key()][walk] = next
			}
			next++
			u.split = true
		}
	}
}

// alike are the walks in groups that agree at all places.
func (p *projection) alike() (groups [][]int) {
	contested := map[int]map[place]any{}
	for at, list := range p.ways {
		if !slices.ContainsFunc(list, func(w way) bool { return w.to != list[0].to }) {
			continue
		}
		for _, w := range list {
			if contested[w.walk] == nil {
				contested[w.walk] = map[place]any{}
			}
			contested[w.walk][at] = w.to
		}
	}
	if len(contested) == 0 {
		return nil
	}
	var agreed []map[place]any
	for _, walk := range p.walks {
		mine := contested[walk]
		i := slices.IndexFunc(agreed, func(theirs map[place]any) bool { return !differ(mine, theirs) })
		if i < 0 {
			i = len(agreed)
			agreed, groups = append(agreed, map[place]any{}), append(groups, nil)
		}
		maps.Copy(agreed[i], mine)
		groups[i] = append(groups[i], walk)
	}
	return groups
}

// differ reports whether two groups of walks came to different things at a place.
func differ(x, y map[place]any) bool {
	for at, to := range x {
		if other, both := y[at]; both && other != to {
			return true
		}
	}
	return false
}
