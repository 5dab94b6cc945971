package infer

import (
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// UnitUntil is UnitAfter for somebody who may want no result any more: once stop
// gives an error, that comes back soon. nil: nobody will.
func UnitUntil(p *plan.Plan, facts *kernel.Facts, binaries Binaries, earlier *Types, stop func() error) (*Result,
	error) {
	return inferUnit(p, facts, binaries, earlier, false, stop)
}

// stopped is the panic that ends a walk that nobody wants any more.
type stopped struct{ err error }

// poll ends the walk if it is to stop. It is called for each statement.
func (u *unit) poll() {
	if u.stop == nil {
		return
	}
	if err := u.stop(); err != nil {
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
