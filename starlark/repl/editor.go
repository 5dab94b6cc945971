package repl

import (
	"strings"
	"unicode"
)

// An Action is what an editor wants after a key.
type Action uint8

// The actions.
const (
	Redraw  Action = iota
	Submit         // Line has been entered
	Abandon        // Ctrl-C: the line is to be forgotten
	Leave          // Ctrl-D in an empty line
	Show           // Offers are to be shown above the line
	Wipe           // the screen is to be cleared
)

// An Editor edits one line. The state between two keys is all that there is:
// it never waits.
type Editor struct {
	History *History
	// Complete gives the words that could stand at the cursor, for all before
	// it: they replace text from a byte on.
	Complete func(before string) Completion
	Offers   []string

	text   []rune
	at     int
	killed []rune
	recall int    // the line of the history that is shown; its length: none
	typed  []rune // what was there before
	search *search
}

// A search goes back through the history for what is typed meanwhile.
type search struct {
	text string
	at   int // the line that was found
}

// A Completion says what could stand at the cursor.
type Completion struct {
	From  int // where the words begin in the text before the cursor
	Words []string
	// Shown are words that only say what there is: they extend nothing.
	Shown []string
}

// NewEditor makes an editor of an empty line.
func NewEditor(h *History, complete func(string) Completion) *Editor {
	e := &Editor{History: h, Complete: complete}
	e.Clear()
	return e
}

// Clear begins a new line.
func (e *Editor) Clear() {
	e.text, e.at, e.search, e.recall, e.typed = nil, 0, nil, len(e.History.lines), nil
}

// Line is the line; At the byte at which the cursor is.
func (e *Editor) Line() string { return string(e.text) }

// At is the byte of Line at which the cursor is.
func (e *Editor) At() int { return len(string(e.text[:e.at])) }

// Searching gives the prompt of a search, "" where there is none.
func (e *Editor) Searching() string {
	if e.search == nil {
		return ""
	}
	return "(search: " + e.search.text + ") "
}

// Insert puts text at the cursor.
func (e *Editor) Insert(text string) {
	added := []rune(text)
	e.text = append(e.text[:e.at:e.at], append(added, e.text[e.at:]...)...)
	e.at += len(added)
}

// Key changes the line as a key says.
func (e *Editor) Key(k Key) Action {
	if e.search != nil && e.searchKey(k) {
		return Redraw
	}
	switch k.Code {
	case Insert, Paste:
		e.Insert(k.Text)
	case Enter:
		e.at = len(e.text)
		return Submit
	case Interrupt:
		return Abandon
	case End:
		if len(e.text) == 0 {
			return Leave
		}
		e.remove(e.at, e.at+1)
	case Tab:
		return e.tab()
	case ClearScreen:
		return Wipe
	case Search:
		e.search = &search{at: len(e.History.lines)}
	case Previous:
		e.show(e.recall - 1)
	case Following:
		e.show(e.recall + 1)
	default:
		e.move(k.Code)
	}
	return Redraw
}

func (e *Editor) move(c Code) {
	switch c {
	case Left:
		e.at = max(0, e.at-1)
	case Right:
		e.at = min(len(e.text), e.at+1)
	case WordLeft:
		e.at = e.wordLeft()
	case WordRight:
		e.at = e.wordRight()
	case Home:
		e.at = 0
	case LineEnd:
		e.at = len(e.text)
	case Backspace:
		e.remove(e.at-1, e.at)
	case Delete:
		e.remove(e.at, e.at+1)
	case KillWord:
		e.kill(e.wordLeft(), e.at)
	case KillNextWord:
		e.kill(e.at, e.wordRight())
	case KillToEnd:
		e.kill(e.at, len(e.text))
	case KillToStart:
		e.kill(0, e.at)
	case Yank:
		e.Insert(string(e.killed))
	}
}

func (e *Editor) remove(from, to int) {
	if from < 0 || to > len(e.text) {
		return
	}
	e.text = append(e.text[:from:from], e.text[to:]...)
	e.at = from
}

func (e *Editor) kill(from, to int) {
	e.killed = append([]rune(nil), e.text[from:to]...)
	e.remove(from, to)
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (e *Editor) wordLeft() int {
	i := e.at
	for i > 0 && !inWord(e.text[i-1]) {
		i--
	}
	for i > 0 && inWord(e.text[i-1]) {
		i--
	}
	return i
}

func (e *Editor) wordRight() int {
	i := e.at
	for i < len(e.text) && !inWord(e.text[i]) {
		i++
	}
	for i < len(e.text) && inWord(e.text[i]) {
		i++
	}
	return i
}

// show recalls a line of the history; behind the last is what was typed.
func (e *Editor) show(i int) {
	n := len(e.History.lines)
	if i < 0 || i > n {
		return
	}
	if e.recall == n {
		e.typed = e.text
	}
	e.recall, e.text = i, e.typed
	if i < n {
		e.text = []rune(e.History.lines[i])
	}
	e.at = len(e.text)
}

// searchKey reports whether the key belongs to the search; all others end it
// and do what they do.
func (e *Editor) searchKey(k Key) bool {
	switch k.Code {
	case Insert:
		e.search.text += k.Text
		e.find(e.search.at + 1)
	case Backspace:
		r := []rune(e.search.text)
		e.search.text = string(r[:max(0, len(r)-1)])
	case Search:
		e.find(e.search.at)
	case Cancel, Interrupt:
		e.Clear()
	default:
		e.search = nil
		return false
	}
	return true
}

// find shows the last line before number i that has the text.
func (e *Editor) find(i int) {
	if found := e.History.before(min(i, len(e.History.lines)), e.search.text); found >= 0 {
		e.search.at = found
		e.show(found)
	}
}

// tab inserts what all offered words have in common; if that is nothing new,
// they are shown.
func (e *Editor) tab() Action {
	before := string(e.text[:e.at])
	if strings.TrimSpace(before) == "" {
		e.Insert("    ")
		return Redraw
	}
	c := e.Complete(before)
	have := before[min(c.From, len(before)):]
	common := commonPrefix(c.Words)
	switch {
	case len(c.Words) == 0 && len(c.Shown) == 0:
		return Redraw
	case len(common) > len(have) && strings.HasPrefix(common, have):
		e.Insert(common[len(have):])
		return Redraw
	case len(c.Words) == 1:
		return Redraw
	}
	e.Offers = append(lastParts(c.Words), lastParts(c.Shown)...)
	return Show
}

// lastParts are words without the fields or folders that all of them begin
// with.
func lastParts(words []string) []string {
	from := strings.LastIndexAny(commonPrefix(words), ":/") + 1
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w[from:]
	}
	return out
}

func commonPrefix(words []string) string {
	if len(words) == 0 {
		return ""
	}
	out := words[0]
	for _, w := range words[1:] {
		for !strings.HasPrefix(w, out) {
			out = out[:len(out)-1]
		}
	}
	return strings.ToValidUTF8(out, "")
}
