package point

import (
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
)

// The rows of ufunc:, uprobe: and uretprobe: in the table of kinds, and how BINARY:@FILE:FUNCTION and FILE:LINE are
// told in a point.

var (
	byUprobe  = &Way{Name: kernel.WayUprobe, Use: "uprobe:, uretprobe: and usdt:"}
	byUprobes = &Way{Name: kernel.WayUprobeMulti, Use: "many functions of programs at once", Since: "6.6",
		Instead: "a probe for each function"}
	byUprobeSession = &Way{Name: kernel.WayUprobeSession,
		Use:   "entry and return of a function of a program by one program",
		Since: "6.13", Instead: "two programs; nothing is missing"}
)

// UserFunctions are functions of programs and libraries.
var UserFunctions = &Family{Name: "functions of programs", Calls: "ufunc:PROGRAM:NAME", Kinds: []*Kind{
	{
		Name: "ufunc",
		Form: "PROGRAM:[@FILE:]FUNCTION", Wanted: "BINARY:FUNCTION", Max: 2, InPrograms: true,
		What:       "calls of user functions, entry and return as one event",
		Examples:   []string{"ufunc:c:malloc", "ufunc:./a.out:main.*", "ufunc:./a.out:@cart.c:*"},
		Gives:      []string{"args", "ret", "duration", "depth"},
		BareTraced: true,
		ListedBy:   NoList, Ways: []*Way{byUprobes, byUprobeSession, byUprobe}, Lacking: noUprobes,
		Foreign: map[string]string{"pid": "use ufunc:BINARY:FUNCTION", "process": "use ufunc:BINARY:FUNCTION"},
	},
	{
		Name: "uprobe", Short: "u",
		Form:   "PROGRAM:[@FILE:]FUNCTION[+OFFSET]|FILE:LINE",
		Wanted: "BINARY:FUNCTION[+OFFSET] or BINARY:FILE:LINE", Max: 2,
		InPrograms: true, TakesOffset: true,
		What: "entries of user functions, or places in them: instructions, lines of their source",
		Examples: []string{"uprobe:c:getaddrinfo", `uprobe:./a.out:"ns::f*"`, "uprobe:./a.out:@cart.c:*",
			"uprobe:./a.out:cart.c:120"},
		Gives:    []string{"args"},
		ListedBy: NoList, Ways: []*Way{byUprobe, byUprobes}, Lacking: noUprobes,
	},
	{
		Name: "uretprobe", Short: "ur",
		Form: "PROGRAM:[@FILE:]FUNCTION", Wanted: "BINARY:FUNCTION", Max: 2, InPrograms: true,
		What:     "returns of user functions",
		Examples: []string{"uretprobe:bash:readline"},
		Gives:    []string{"ret"},
		ListedBy: NoList, Ways: []*Way{byUprobe, byUprobes}, Lacking: noUprobes,
	},
}}

func noUprobes(f *kernel.Facts) (lacking bool, why string) {
	has := f.Features()
	return !has.Uprobe, has.Why["uprobe"]
}

// A SourceFunctions names functions by the source file that defines them: BINARY:@FILE:FUNCTION, or @FILE:FUNCTION of
// the traced program. File and Function can be patterns; Function is "" where it is left out.
type SourceFunctions struct {
	// Binary is the program, "" the traced one.
	Binary string
	// File and Function are as they were written.
	File, Function string
}

// SourceOf gives the functions that the text behind a kind names by their source file; false where it does not.
func SourceOf(rest string) (f SourceFunctions, ok bool) {
	rest, ok = strings.CutPrefix(rest, "@")
	if !ok {
		fields := Split(rest, 2)
		if len(fields) < 2 {
			return f, false
		}
		f.Binary = fields[0]
		if rest, ok = strings.CutPrefix(fields[1], "@"); !ok {
			return SourceFunctions{}, false
		}
	}
	fields := append(Split(rest, 2), "")
	f.File, f.Function = fields[0], fields[1]
	return f, true
}

// LineOf gives the line of a source file that the text behind a kind names, BINARY:FILE:LINE, or FILE:LINE of the
// traced program; false where it names functions. No function is called 120, nor does the name of one end in a colon
// and a number.
func LineOf(rest string) (binary, file string, line int, ok bool) {
	at := strings.LastIndexByte(rest, ':')
	n, err := strconv.ParseUint(rest[at+1:], 10, 31)
	if err != nil || at < 1 || strings.HasSuffix(rest[:at], ":") || strings.Contains(rest, `"`) {
		return "", "", 0, false
	}
	fields := Split(rest[:at], 2)
	return strings.Join(fields[:len(fields)-1], ""), fields[len(fields)-1], int(n), true
}
