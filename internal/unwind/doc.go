// Package unwind keeps in the kernel what programs need to walk along the stacks of user programs without frame
// pointers: for each process a table of its code, and for each file rows that say where frames begin. Package wire has
// their layout (wire.UnwindPage).
//
// The way of a file: its rows (package cfi) are packed into chunks (chunks.go), which get room among the chunks of all
// files (space.go) and are written there. The way of a process: whoever knows what it has mapped says so (Tables.Set,
// Copy, Drop); its mappings become areas, of which each belongs to one run of chunks or has no rules (area.go), and
// these the bytes of a table (table.go).
//
// Files are known by what their owner says they are, so that all processes share the rows of a library. They are read
// on goroutines of their own: a process gets its first table when the rows of all its files are there, and a table with
// another mapping at once, in which what is still being read is missing. So a walk may end early, and its entry says
// why, but it is never led astray by half of a table.
//
// Programs in the kernel may be reading what is to be replaced. So nothing is written in its place: a table is written
// where none is, one update of the map of processes makes walks see it, and what nobody refers to any more is used
// again only after all programs have ended that could see it (maps.settle).
//
// What is kept is bounded. Where there is no room for the rows of another file, those of which no process has a table
// go first, then the tables of the processes that were asked for longest ago.
//
// Tables are safe for concurrent use.
package unwind
