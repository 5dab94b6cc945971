package render

import "github.com/startrace/startrace/internal/escape"

// The frames of a stack as labels, with a mark where callers are missing.

// labels are the frames, the leaf first, and behind them a mark for callers that nobody could find.
func (s *Stack) labels() (list []string) {
	for _, f := range s.Frames {
		list = append(list, f.Label)
	}
	if s.Unfinished {
		list = append(list, escape.Unfinished)
	}
	return list
}
