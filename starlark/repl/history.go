package repl

import "strings"

// MaxHistory is how many lines are kept.
const MaxHistory = 5000

// A History is the lines that were entered, the oldest first.
type History struct {
	lines []string
	added int // how many of them are of this run
}

// ParseHistory reads what String wrote.
func ParseHistory(text string) *History {
	h := &History{}
	for line := range strings.Lines(text) {
		h.put(strings.TrimRight(line, "\n"))
	}
	return h
}

// Add puts a line at the end, unless it is there already.
func (h *History) Add(line string) {
	if h.put(line) {
		h.added = min(h.added+1, len(h.lines))
	}
}

func (h *History) put(line string) bool {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return false
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > MaxHistory {
		h.lines = h.lines[1:]
	}
	return true
}

// Added are the lines of this run, to be added to a file that other runs may
// write too.
func (h *History) Added() string { return joined(h.lines[len(h.lines)-h.added:]) }

func (h *History) String() string { return joined(h.lines) }

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// before gives the line before number i that has a text in it, -1 for none.
func (h *History) before(i int, text string) int {
	for i--; i >= 0; i-- {
		if strings.Contains(h.lines[i], text) {
			return i
		}
	}
	return -1
}
