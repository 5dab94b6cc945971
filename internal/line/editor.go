package line

import (
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/peterh/liner"
)

// What is done with a line as liner edits it: Tab, questions, drawing.

// An editor runs liner for one line after the other.
type editor struct {
	*virtual
	// keyboard is where the keys for liner come from.
	keyboard *keyboard
	// term is where the line is drawn.
	term *terminal
	// wake tells who reads lines that there is a result or a question. Any goroutine may call it.
	wake func()
	// begin starts liner on a line. It has room for one, so ask does not wait.
	begin chan wanted

	mu sync.Mutex // over what follows
	// changed is told of whatever liner prints.
	changed *sync.Cond
	// row is the line as liner has drawn it on its virtual terminal, not yet on the screen.
	row row
	// prompt is that of the line that liner was asked for last.
	prompt Prompt
	asking bool // liner waits for a line, or has one that has not been taken
	// result is what liner has got for that line; nil until it has.
	result *result
	// tab is a question of liner's that has not been taken; nil for none.
	tab *question
	// ended are the lines that liner has ended by its output, taken those whose
	// results have been taken: between the two the row shows no line that is
	// edited.
	ended, taken int
	last         string // the line that was ended last
	closed       bool   // liner's output has ended
}

// wanted is a line that liner is to get, and the text that it begins with.
type wanted struct {
	prompt Prompt
	text   string
}

// A result is what liner has got.
type result struct {
	line string
	err  error
}

// A question is liner's, how a text goes on. The answer is what is added.
type question struct {
	before string
	answer chan string
}

func newEditor(k *keyboard, t *terminal, wake func()) (*editor, error) {
	v, err := newVirtual()
	if err != nil {
		return nil, err
	}
	e := &editor{virtual: v, keyboard: k, term: t, wake: wake, begin: make(chan wanted, 1)}
	e.changed = sync.NewCond(&e.mu)
	e.liner.SetWordCompleter(e.complete)
	go e.run()
	go e.follow()
	go k.feed(e.keys)
	return e, nil
}

// run has liner read lines.
func (e *editor) run() {
	for w := range e.begin {
		line, err := e.liner.PromptWithSuggestion(w.prompt.String(), w.text, -1)
		e.mu.Lock()
		e.result = &result{line, err}
		e.mu.Unlock()
		e.wake()
	}
}

// follow shows what liner prints.
func (e *editor) follow() {
	buf := make([]byte, 64<<10)
	for {
		n, err := e.output.Read(buf)
		e.mu.Lock()
		e.row.write(buf[:n], e.signal)
		e.closed = err != nil
		e.show()
		e.changed.Broadcast()
		e.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// signal does what liner's output says, with e.mu held.
func (e *editor) signal(what signal) {
	switch what {
	case newline:
		e.row.uncover() // the ^C, which only an abandoned line has
		e.last, _ = e.row.text()
		e.ended++
		e.row = row{}
	case wiped:
		e.term.wipe()
	}
}

// show draws the line that is edited, with e.mu held.
func (e *editor) show() {
	if !e.asking || e.ended != e.taken || e.row.refreshing || len(e.row.cells) == 0 {
		return
	}
	text, at := e.row.text()
	prompt, line, at := e.split(text, at)
	e.term.draw(prompt, line, at)
}

// split divides a row into prompt and line, as they are shown. In a search liner has a
// prompt of its own.
func (e *editor) split(text string, at int) (prompt, line string, cursor int) {
	prompt = e.prompt.String()
	line, is := strings.CutPrefix(text, prompt)
	if !is {
		prompt = ""
	}
	line, cursor = e.prompt.shown(line, max(0, at-len(prompt)))
	return prompt, line, cursor
}

// ask lets liner read a line, unless it does.
func (e *editor) ask(p Prompt, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asking {
		return
	}
	e.asking, e.prompt = true, p
	text = forLiner(text)
	shown, at := p.shown(text, len(text))
	e.term.draw(p.String(), shown, at)
	e.begin <- wanted{p, text}
	e.keyboard.want()
}

// question takes liner's question.
func (e *editor) question() *question {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.tab
	e.tab = nil
	return q
}

// complete is called by liner: pos counts characters.
func (e *editor) complete(line string, pos int) (head string, words []string, tail string) {
	head, tail = runesBefore(line, pos)
	q := &question{fromLiner.Replace(head), make(chan string, 1)}
	e.mu.Lock()
	e.tab = q
	e.mu.Unlock()
	e.wake()
	if added := <-q.answer; added != "" {
		words = []string{added}
	}
	return head, words, tail
}

// take takes the line that liner has got.
func (e *editor) take() Input {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.result
	if r == nil {
		return Input{}
	}
	aborted := errors.Is(r.err, liner.ErrPromptAborted)
	if r.err == nil || aborted {
		for e.ended == e.taken && !e.closed { // it has been printed before
			e.changed.Wait()
		}
		e.taken = e.ended
	}
	e.result, e.asking = nil, false
	prompt := e.prompt.String()
	switch {
	case r.err == nil:
		shown, _ := e.prompt.shown(r.line, len(r.line))
		e.term.entered(prompt, shown)
		return Input{Kind: Line, Text: fromLiner.Replace(r.line), Pasted: e.keyboard.wasPasted()}
	case aborted:
		e.keyboard.takeInterrupt()
		prompt, line, _ := e.split(e.last, 0)
		e.term.entered(prompt, line+"^C")
		return Input{Kind: Abandoned}
	case errors.Is(r.err, io.EOF):
		return Input{Kind: Ended}
	}
	e.row = row{}
	return Input{Kind: Abandoned} // liner has lost its line
}
