package render

// Printer, and results that have no place in a format (LeftOut).

// A Printer renders results one after the other. It remembers what it must so
// that the whole output fits together: whether a blank line is due and which
// CSV header stands. Not safe for use by several goroutines.
type Printer struct {
	// Format is that of all that is rendered. It is set before the first result.
	Format Format
	// Guard: cells of CSV are no formulas to spreadsheets.
	Guard bool

	// LeftOut is how many results had no place in the format: rows and events in folded stacks.
	LeftOut uint64

	// Piece takes what is rendered so far, after each row of stacks, and gives what is to be added to: thousands of
	// them are many MB of text. nil: all is kept until the end.
	Piece func(dst []byte) []byte

	started bool   // something was rendered: blocks are set apart by a blank line
	header  string // the CSV header in force
}

// separate begins a block of several lines.
func (p *Printer) separate(dst []byte) []byte {
	if p.started {
		dst = append(dst, '\n')
	}
	p.started = true
	return dst
}

// piece hands on what is rendered so far.
func (p *Printer) piece(dst []byte) []byte {
	if p.Piece == nil {
		return dst
	}
	return p.Piece(dst)
}
