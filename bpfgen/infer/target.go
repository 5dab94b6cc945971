package infer

import "github.com/startrace/startrace/bpfgen/tree"

// onePoint is what sources have in common that are one point with one program.
type onePoint struct{}

func (onePoint) points(t *target) []tree.Point                 { return []tree.Point{{Name: t.text}} }
func (onePoint) names(t *target) []string                      { return []string{t.text} }
func (onePoint) pattern() bool                                 { return false }
func (onePoint) without(t *target, known map[string]bool) bool { return !known[t.text] }
func (onePoint) single(t *target) []*target                    { return []*target{t} }
func (onePoint) wholeFunction() string                         { return "" }
func (onePoint) argNames(*unit) []string                       { return nil }
func (onePoint) argCount(*unit) int                            { return 0 }
func (onePoint) span() bool                                    { return false }
func (onePoint) kept() []string                                { return nil }
func (onePoint) nobodys() bool                                 { return false }
func (onePoint) ownDoing() bool                                { return false }
func (onePoint) entries() []instruction                        { return nil }
func (onePoint) returnsAt() []instruction                      { return nil }

// ofSpan is what sources have in common whose events have a start and an end: these have programs of their own.
type ofSpan struct{ onePoint }

func (ofSpan) span() bool                   { return true }
func (ofSpan) attach(t *target) tree.Attach { panic(t.text + " is a span, which has several programs") }
func (ofSpan) event(t *target, _ *body) *event {
	panic(t.text + " is a span, which has several events")
}

// single splits the targets of a list: see source.single.
func single(list []*target) []*target {
	var out []*target
	for _, t := range list {
		out = append(out, t.single(t)...)
	}
	return out
}
