package bpfgen

// stopped is the panic that ends the work on a unit that nobody wants any more.
type stopped struct{ err error }

// poll ends the work if it is to stop. It is called for each program and behind
// each pass.
func (g *generator) poll() {
	if g.o.Stop == nil {
		return
	}
	if err := g.o.Stop(); err != nil {
		panic(stopped{err})
	}
}

// whenStopped makes the panic of poll an error.
func whenStopped(err *error) {
	switch p := recover().(type) {
	case nil:
	case stopped:
		*err = p.err
	default:
		panic(p)
	}
}
