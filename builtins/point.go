package builtins

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/format"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/point"
)

// Points as scripts write them, parsed, and how messages name several.

// ParsePattern reads a point that is written as a string, such as "syscall:openat". pos is where it is written. The
// error says what is wrong with it, and whether the kernel has such a point is not asked.
func ParsePattern(text string, pos plan.Pos) (*plan.Pattern, error) {
	word, _, _ := strings.Cut(text, ":")
	kind, known := point.Named(word)
	if !known {
		return nil, point.Unknown(text, word)
	}
	if before, after, several := strings.Cut(text, ","); several && !kind.InPrograms {
		if second, _, colon := strings.Cut(strings.TrimSpace(after), ":"); colon {
			if _, is := point.Named(second); is {
				return nil, &severalPoints{text, strings.TrimSpace(before), strings.TrimSpace(after)}
			}
		}
	}
	args, err := kind.Fields(text)
	if err != nil {
		return nil, err
	}
	return &plan.Pattern{Text: text, Provider: kind.Name, Args: args, Pos: pos}, nil
}

// toPoints reads points: a string, a PointValue, or a list or tuple of them.
func toPoints(v starlark.Value, pos plan.Pos) ([]Point, error) {
	switch v := v.(type) {
	case starlark.String:
		p, err := ParsePattern(string(v), pos)
		return []Point{{pattern: p}}, err
	case *PointValue:
		return []Point{{value: v}}, nil
	case *starlark.List, starlark.Tuple, *starlark.Set:
		var out []Point
		for elem := range starlark.Elements(v.(starlark.Iterable)) {
			ps, err := toPoints(elem, pos)
			if err != nil {
				return nil, err
			}
			out = append(out, ps...)
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("points: got an empty %s, want at least one point", v.Type())
		}
		return out, nil
	}
	return nil, fmt.Errorf("points: got %s, want a string like \"tracepoint:sched:sched_switch\", an event, a span, "+
		"or a list of them", v.Type())
}

// shownPoints is how many of the points of a probe a message names.
const shownPoints = 3

// pointsText names points as they were written, each once, and of many the first.
func pointsText(ps []Point) string { return format.Few(distinct(pointNames(ps)), shownPoints) }

// pointNames are those of points, and of events those of the points that they are made of.
func pointNames(ps []Point) (out []string) {
	for _, p := range ps {
		if p.pattern != nil {
			out = append(out, p.pattern.Text)
		} else {
			out = append(out, p.value.names()...)
		}
	}
	return out
}

func distinct(names []string) (out []string) {
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
