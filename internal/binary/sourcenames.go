package binary

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/sourceline"
)

// The shortest names of source files that tell them apart, as cart.c:12.

// sourceNames are the names of the source files of programs.
type sourceNames map[string]tails

// of are the names of the source files of a program, table is nil where it has no debug information.
func (n *sourceNames) of(program string, table *signature.Functions) tails {
	t, known := (*n)[program]
	if known {
		return t
	}
	var all []string
	if table != nil {
		all, _ = sourceline.All(table.Data()) // where it is damaged, nothing is known of other files
	}
	if *n == nil {
		*n = sourceNames{}
	}
	t = newTails(all)
	(*n)[program] = t
	return t
}

// tails name files by the ends of their paths.
type tails struct{ byBase map[string][]string }

func newTails(all []string) tails {
	t := tails{map[string][]string{}}
	for _, name := range all {
		base := path.Base(name)
		t.byBase[base] = append(t.byBase[base], name)
	}
	return t
}

// line is a line of the source as events have it: "cart.c:12", or "src/cart.c:12" where another folder has a cart.c; ""
// of no file.
func (t tails) line(file string, number int) string {
	if file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", t.of(path.Clean(file)), number)
}

// of is the shortest end of a file's path that is that of no other file.
func (t tails) of(file string) string {
	others := slices.Clone(t.byBase[path.Base(file)])
	others = slices.DeleteFunc(others, func(o string) bool { return perhapsSame(o, file) })
	for at := strings.LastIndexByte(file, '/'); at > 0; at = strings.LastIndexByte(file[:at], '/') {
		tail := file[at:]
		if !slices.ContainsFunc(others, func(o string) bool { return strings.HasSuffix("/"+o, tail) }) {
			return tail[1:]
		}
	}
	return file
}

// perhapsSame reports whether two names may be those of one file, of which one unit has more of the path than another.
func perhapsSame(x, y string) bool {
	return x == y || strings.HasSuffix(x, "/"+y) || strings.HasSuffix(y, "/"+x)
}
