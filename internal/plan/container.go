package plan

import (
	"fmt"
	"strings"
)

// Container and its kinds, a constant each: Table, Cell, Count, Hist and others; how many entries one has by default
// (`DefaultSize`).

// ContainerKind says what a container is: a table, a cell, an aggregation, a group.
type ContainerKind uint8

// The kinds of containers. Table and Cell hold values that both sides set;
// the others are aggregations.
const (
	Table ContainerKind = iota
	Cell
	Count
	Total
	Mean
	Lowest
	Highest
	Stats
	Hist
	LHist
	Quantiles
	Group
)

var kindNames = [...]string{
	"table", "cell", "count", "total", "mean", "lowest", "highest", "stats",
	"hist", "lhist", "quantiles", "group",
}

// String gives the name that scripts use.
func (k ContainerKind) String() string { return kindNames[k] }

// IsAggregation reports whether kernel halves only add to a container of kind k.
func (k ContainerKind) IsAggregation() bool { return k >= Count && k <= Quantiles }

// HasBuckets reports whether aggregations of kind k are histograms.
func (k ContainerKind) HasBuckets() bool { return k == Hist || k == LHist || k == Quantiles }

// A Container is one call of table(), cell(), count(), hist() …
//
// Its key and value types are not here: the compiler infers them from all
// uses in kernel halves.
type Container struct {
	// ID is its index in Plan.Containers. That of a member of a group means nothing.
	ID int
	// Kind says which call declared it. It decides which of the other fields count.
	Kind ContainerKind
	Name string   // from the assignment; "" for none
	By   []string // column names of the key
	Size int      // entries; 0 for the default
	// LRU: a full table drops its oldest entry for a new one, instead of the new one.
	LRU bool
	// Unit is NSEC, USEC …; 1 for none. hist and lhist divide before bucketing, the others when they are read.
	Unit int64
	// UnitName labels output: "ms", "us"; "" for none.
	UnitName string
	Sub      int // hist: sub-buckets per power of two, as a power of two
	// Lo and Hi are the ends of lhist, and Step is the width of its buckets.
	Lo, Hi int64
	Step   int64 // lhist
	Init   Value // cell: the first value
	// Filled is set where the script itself has put something into a table or cell beside Init.
	Filled bool
	// Holds is one of the values that it has put there so, nil for none, where kernel halves do not say what they are.
	Holds   Value
	Members []GroupMember // group
	Group   string        // the name of the group that it is a member of; "" for none
	// Pos is the place of the call.
	Pos Pos
}

// Alone says why a member of a group is not used without it; "" where c is none.
func (c *Container) Alone() string {
	if c.Group == "" {
		return ""
	}
	return fmt.Sprintf("the %s is the member %s of %s, which holds its values: write %s.%[2]s or %[3]s[…].%[2]s",
		c.Kind, c.Name, c.Group, c.Group)
}

// WithoutKey says that a use without a key leaves the columns of by= without anything.
func (c *Container) WithoutKey() string {
	name, gaps := c.Name, strings.Repeat(", …", len(c.By))
	if name == "" {
		name = "x"
	}
	return fmt.Sprintf("%s %s is used without a key here, and by= names the columns of one: %s; write %s[%s]",
		c.Kind, name, strings.Join(c.By, ", "), name, gaps[2:])
}

// WantsInt is what add() of an aggregation wants in place of what has the type typ. Who gives a tuple or a list means a
// key, or several numbers.
func WantsInt(typ string) string {
	if typ != "tuple" && typ != "list" {
		return "want int"
	}
	return "want one int: a key is given apart, as h[key].add(n) or by --by, and of several numbers each is added by " +
		"itself"
}

// DefaultSize is the number of entries of a keyed container.
const DefaultSize = 10240

// Entries gives the number of entries that the container can hold.
func (c *Container) Entries() int {
	if c.Size > 0 {
		return c.Size
	}
	return DefaultSize
}

// A GroupMember is one named aggregation of a group, Agg, with its Name in the script. Its Container has no key of its
// own; it is not in Plan.Containers.
type GroupMember struct {
	Name string
	Agg  *Container
}

// Title names a container in messages.
func (c *Container) Title() string {
	if c.Name != "" {
		return c.Name
	}
	return "a " + c.Kind.String()
}
