// Package until ends work in the middle when nobody wants its result any more, and computes beside others what they may
// not have the time to wait for (Later).
//
// The work is a walk that is many functions deep. At each step it asks; the answer that ends it passes all of them and
// comes out as an error where the walk began:
//
//	func walk(stop until.Stop) (err error) {
//		defer until.End(&err)
//		…
//		stop.Poll()
//	}
package until

// Work ended in the middle.

// A Stop gives an error once the work is to end. nil: nobody asks for that.
type Stop func() error

// stopped is the panic by which Poll leaves the walk.
type stopped struct{ err error }

// Poll leaves the walk if it is to stop.
func (s Stop) Poll() {
	if s == nil {
		return
	}
	if err := s(); err != nil {
		panic(stopped{err})
	}
}

// End is deferred where the walk begins: it makes the panic of Poll an error, and passes on every other one.
func End(err *error) {
	switch p := recover().(type) {
	case nil:
	case stopped:
		*err = p.err
	default:
		panic(p)
	}
}
