package builtins

import (
	"testing"

	"github.com/startrace/startrace/internal/plan"
)

// A message names the points of an event each once, also those of an event within it, and of many the first.
func TestPointsText(t *testing.T) {
	pattern := func(text string) Point { return Point{pattern: &plan.Pattern{Text: text}} }
	of := func(kind string, points ...Point) Point {
		p := &PointValue{kind: kind, alts: points, start: points, end: points}
		for _, one := range points {
			p.arms = append(p.arms, arm{points: []Point{one}})
		}
		return Point{value: p}
	}
	a, b, c, d, e := pattern("a"), pattern("b"), pattern("c"), pattern("d"), pattern("e")
	for want, points := range map[string][]Point{
		"a, b, c":                   {a, b, c},
		"a, b":                      {of("event", a, a, b), b},
		"a, b, c and 2 more":        {of("event", a, of("event", b, c), a, d), e},
		"first(a, b), a → a":        {of("first", a, b), of("span", a)},
		"a, first(b), c and 1 more": {of("event", a, of("first", b)), c, d},
	} {
		if got := pointsText(points); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
