package value

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/wire"
)

// What all containers have in user space (base): names, methods, `has no keys`, and drops where they are full.

// A Container is a table, cell, aggregation or group as scripts hold it.
type Container interface {
	starlark.Value
	// Decl is the declaration in the plan.
	Decl() *plan.Container
	// Bind moves the container into kernel maps. What user code wrote before
	// is handed over.
	Bind(Backend, *Decoder) error
	// Filled reports whether user code has put something into a table or cell before Bind.
	Filled() bool
	// Holds is one of the values that user code has put there before Bind and that are not None, nil for none.
	Holds() starlark.Value
	// WasRead reports whether the script read the container: then it is not
	// printed at exit.
	WasRead() bool
	// MarkRead says that the script has read it.
	MarkRead()
	// CountDrops says where the container counts what it has no room for.
	CountDrops(*Full)
	// SetKeyParts says which parts of the keys are there: see keyparts.go.
	SetKeyParts(parts []bool)
	// KeyNames are the columns of the keys that by= names.
	KeyNames() []string
}

// base is what all containers have.
type base struct {
	// decl is what the script has declared.
	decl *plan.Container
	// be is where entries are kept: maps of the kernel. It is nil while the container has only entries of user space.
	be Backend
	// dec makes values of the bytes of keys and entries; nil as long as be is.
	dec *Decoder
	// full counts what was not stored for want of room.
	full *Full
	// read: the script has read the container, so it is not printed at the exit.
	read bool
	// Scratch for one entry, of the sizes of the layout.
	key, val []byte
	parts    []bool        // of the key, those that are there; nil: all. See keyparts.go
	texts    starlark.Dict // what keys of the map read as → their bytes: see textkey.go
}

func (b *base) Decl() *plan.Container { return b.decl }
func (b *base) Filled() bool          { return false }
func (b *base) Holds() starlark.Value { return nil }
func (b *base) WasRead() bool         { return b.read }
func (b *base) MarkRead()             { b.read = true }
func (b *base) Type() string          { return b.decl.Kind.String() }
func (b *base) Freeze()               {} // both halves may write at any time
func (b *base) Truth() starlark.Bool  { return starlark.True }
func (b *base) Hash() (uint32, error) {
	return 0, fmt.Errorf("unhashable: %s", b.Type())
}

func (b *base) String() string {
	if b.decl.Name == "" {
		return "<" + b.Type() + ">"
	}
	return "<" + b.Type() + " " + b.decl.Name + ">"
}

func (b *base) attach(be Backend, d *Decoder) {
	b.be, b.dec = be, d
	key, val := be.Layout()
	if key != nil {
		b.key = make([]byte, key.Size)
	}
	b.val = make([]byte, val.Size)
}

// keyMissing and keyTooMuch are about uses without a key and with one.
func (b *base) keyMissing() error { return fmt.Errorf("%s has keys: write %s[…]", b, b.name()) }

func (b *base) keyTooMuch() error {
	return fmt.Errorf("%s has no keys: write %s without […]", b, b.name())
}

func (b *base) name() string {
	if b.decl.Name == "" {
		return "x"
	}
	return b.decl.Name
}

// A methodFunc implements the method of a container.
type methodFunc[C any] func(c C, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// bindMethod looks up name in a table of methods; nil where there is none.
func bindMethod[C starlark.Value](c C, table map[string]methodFunc[C], name string) starlark.Value {
	f, ok := table[name]
	if !ok {
		return nil
	}
	return method(name, c, func(_ *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
		error) {
		return f(c, args, kwargs)
	})
}

// An Agg is an aggregation (count, hist …) or a group of them.
//
// Kernel halves only add to it, and so does user code; therefore what user
// code adds stays here and is merged when somebody reads. No update can be
// lost between the two sides, and kernel halves see nothing that they could
// miss.
//
// take() gives the difference to the reading before, which is kept; the maps
// are not reset. Extremes have no difference: their values are two banks, and
// take() gives the one that kernel halves have left (aggtake.go). Either way
// each update is in exactly one result.
type Agg struct {
	base
	shape *wire.Agg // of the map values, nil until bound
	local *Snapshot // what user code added since the last take
	taken map[string][]State
	keys  starlark.Dict // those that are kept here only: see aggroom.go
	// mapped are the keys of the map as they were when it was read, which is done
	// again when there are recount keys here.
	mapped  starlark.Dict
	recount int
	// switched says that banks were taken: entries stay, with nothing in them.
	switched bool
}

// A Table maps keys to values that both halves set.
type Table struct {
	base
	local starlark.Dict // by indexKey, until Bind
	// unsigned has, of those keys of local that are written with ints from 1<<63 on
	// alone, what was written.
	unsigned starlark.Dict
	gone     uint64 // entries of local that were dropped for new ones
	onClear  func()
}

// A Snapshot is what an aggregation or group held at one time. It is what
// take() gives, and what reports are printed from.
type Snapshot struct {
	// decl is the aggregation as the script has declared it.
	decl  *plan.Container
	parts []bool // of the key, those that are there: see keyparts.go
	// entries are what it held, one for each key.
	entries []Entry
	index   starlark.Dict // indexKey(key) → number in entries
	single  int           // the number of the entry without a key, -1: none
	keyed   bool          // as far as the aggregation's uses told: what it holds has keys
	// of is the aggregation, which knows how its keys read; nil: they are looked up as they are.
	of *Agg
}

// An Entry is what an aggregation or group holds under one key.
type Entry struct {
	Key    starlark.Value // nil in an unkeyed one
	States []State        // one, or one for each member of a group
}

// Full counts what containers had no room for in user space. Kernel halves count
// the same by themselves: what is new is dropped, and the run's last lines say how
// much.
type Full struct {
	// Where is the place in the script that is running; nil: not known.
	Where func() plan.Pos

	places []FullPlace
	at     map[fullKey]int // the number in places
}

// A FullPlace is where updates of a Container were dropped, at the place Pos of the script, and how many: Count.
type FullPlace struct {
	Container *plan.Container
	Pos       plan.Pos
	Count     uint64
}

type fullKey struct {
	c   *plan.Container
	pos plan.Pos
}

func listOf(items []starlark.Tuple, pick func(starlark.Tuple) starlark.Value) *starlark.List {
	out := make([]starlark.Value, len(items))
	for i, kv := range items {
		out[i] = pick(kv)
	}
	return starlark.NewList(out)
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

func newSnapshot(decl *plan.Container, parts []bool) *Snapshot {
	return &Snapshot{decl: decl, parts: parts, single: -1}
}

func columnsOf(decl *plan.Container) []*plan.Container {
	if decl.Kind != plan.Group {
		return []*plan.Container{decl}
	}
	out := make([]*plan.Container, len(decl.Members))
	for i, m := range decl.Members {
		out[i] = m.Agg
	}
	return out
}

// Decl is the declaration of the aggregation.
func (s *Snapshot) Decl() *plan.Container { return s.decl }

// Entries gives all entries in the order in which they came.
func (s *Snapshot) Entries() []Entry { return s.entries }
