package value

import (
	"errors"

	"github.com/startrace/startrace/internal/plan"
)

// ErrFull is what a Backend gives that has no room for a new entry.
var ErrFull = errors.New("all entries are in use")

// Full counts what containers had no room for in user space. Kernel halves count
// the same by themselves: what is new is dropped, and the run's last lines say how
// much.
type Full struct {
	// Where is the place in the script that is running; nil: not known.
	Where func() plan.Pos

	places []FullPlace
	at     map[fullKey]int // the number in places
}

// A FullPlace is where updates of a container were dropped, and how many.
type FullPlace struct {
	Container *plan.Container
	Pos       plan.Pos
	Count     uint64
}

type fullKey struct {
	c   *plan.Container
	pos plan.Pos
}

// Places gives what was dropped so far, in the order in which it began.
func (f *Full) Places() []FullPlace { return f.places }

// dropped counts an update of c.
func (f *Full) dropped(c *plan.Container) {
	if f == nil {
		return
	}
	k := fullKey{c: c}
	if f.Where != nil {
		k.pos = f.Where()
	}
	i, known := f.at[k]
	if !known {
		if f.at == nil {
			f.at = make(map[fullKey]int)
		}
		i = len(f.places)
		f.at[k] = i
		f.places = append(f.places, FullPlace{Container: c, Pos: k.pos})
	}
	f.places[i].Count++
}

// CountDrops says where the container counts what it has no room for.
func (b *base) CountDrops(f *Full) { b.full = f }

// roomy turns the error of a backend that has no room into a dropped update.
func (b *base) roomy(err error) error {
	if !errors.Is(err, ErrFull) {
		return err
	}
	b.full.dropped(b.decl)
	return nil
}
