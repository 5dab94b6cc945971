package tree

import "strconv"

// The names of the maps that programs use.

// The names of the maps that programs use. Containers are MapContainer and
// their number, spans MapSpan and their number.
const (
	MapRing      = "ring"
	MapSites     = "sites"
	MapScratch   = "scratch"
	MapContainer = "c"
	MapSpan      = "span"
	mapEnds      = "ends"
	// MapConst holds constant strings, pattern tables and zeros.
	MapConst = "const"
	// MapPlaces has the words by which the ends of spans with keys see starts
	// that come at the same time.
	MapPlaces = "places"
	// MapTails has the programs that are reached by tail calls.
	MapTails = "tails"
	// MapStacks keeps each stack once: u64 id → see wire.StackCheck.
	MapStacks = "stacks"
	// MapNames has the texts of the names of functions and points: u64 number → see layout.NameRow.
	MapNames = "names"
	// MapUnwindProcesses has the tables in MapUnwindTables of processes, MapUnwindRows the rows of the files that they
	// have mapped, and MapUnwindFiles those by which a file is found that is mapped: see wire ("Tables for stacks of
	// user programs"). MapUnwindGuesses has the numbers of rows that were found last.
	MapUnwindProcesses = "unwind_procs"
	MapUnwindTables    = "unwind_tables"
	MapUnwindRows      = "unwind_rows"
	MapUnwindFiles     = "unwind_files"
	MapUnwindGuesses   = "unwind_guesses"
	// MapBusy has a word for each CPU: how many programs are in calls that take locks (lower.Guard).
	MapBusy = "busy"
	// mapKeep and the number of a probe: its last events (Unit.Keep).
	mapKeep = "keep"
	// MapEpochs has a word for each container by its number: which bank of its
	// values programs fill (wire.Agg.Banks).
	MapEpochs = "epochs"
)

// ScratchHeader is how many bytes lie before the data of an entry of MapScratch.
const ScratchHeader = 8

// ContainerMap is the name of the map of container i.
func ContainerMap(i int) string { return MapContainer + strconv.Itoa(i) }

// KeepMap is the name of the map of the events that a probe keeps.
func KeepMap(probe int) string { return mapKeep + strconv.Itoa(probe) }

// EndsMap is the name of the map that notes the threads with ends of span i that had no start (Span.Ends).
func EndsMap(i int) string { return mapEnds + strconv.Itoa(i) }

// SpanMap is the name of the map of span i.
func SpanMap(i int) string { return MapSpan + strconv.Itoa(i) }
