package tree

import "github.com/startrace/startrace/internal/plan"

// SiteKind, the kinds of losses that programs count, and the site of one.

// SiteKind says what failed at a Site.
type SiteKind uint8

// The kinds of failures that programs count.
const (
	SiteFull        SiteKind = iota // a map was full; the key was not stored
	SiteNoMem                       // another failure of an insert
	SiteRing                        // the ring was full: an event is lost
	SiteScratch                     // no scratch memory was free: an event is lost
	SiteError                       // a handler ended early: What says why
	SiteOrphanEnd                   // a span's end without a start
	SiteOpenStart                   // a start found an open one: that never ended
	SiteSpanFull                    // a start found no room
	SiteContention                  // an extreme gave up after its tries
	SiteStackFull                   // the table of stacks was full
	SiteStackClash                  // two stacks have one id
	SiteTimeout                     // a span's end came later than its timeout
	SiteSpanRace                    // an end and a start of one key at the same time: one pair is lost
	SiteKeep                        // the queue of kept events was being worked on: an event is lost
	SiteSpanDeep                    // a call further in than returns are seen
	SiteReturnDeep                  // a call further in than returns are seen, of which only the return is probed
	SiteThreadEnded                 // a thread ended in a call: that never ended, which is no loss
	SiteBelow                       // a program at a lock of tables ran below one that has one: an event is lost
	SiteSeen                        // a system call was seen from its start to its end, before where=: no loss
	SiteLRU                         // an entry was put into a table that drops its oldest when it is full: no loss yet
)

// A Site is a place in a script where something can be lost.
type Site struct {
	// Kind says what failed there; the words of the report and the remedy go by it.
	Kind SiteKind
	// What says in words why a handler ended: "division by zero", "None where an int was wanted". Only a SiteError has
	// it.
	What string
	// Probe is the number of the plan's probe whose program counts here; -1: none.
	Probe int
	// Container is the number of the plan's container that lost an update here; -1: none.
	Container int
	Span      *Span // whose starts or ends are lost; nil: none
	// Pos is the place in the script that the report names. It is not valid where no line of the script is to blame.
	Pos plan.Pos
}
