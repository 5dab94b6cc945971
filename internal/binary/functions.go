package binary

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/naming"
)

// Functions of a file that a query means, with their copies, and the message about a path with a colon.

// withColon says of a file that is not found that the path has a colon, where there is one of such a path.
func withColon(q Query, err error) error {
	if !errors.Is(err, ErrNotFound) {
		return err
	}
	for at := range len(q.Pattern) {
		if path := q.File + ":" + q.Pattern[:at]; q.Pattern[at] == ':' && at > 0 {
			if is, wrong := os.Stat(path); wrong == nil && is.Mode().IsRegular() {
				return fmt.Errorf("%w: a colon ends the path; name %s by a link to it (ln -s) without a colon, or "+
					"leave the path out with -p or -c", err, path)
			}
		}
	}
	return err
}

// Functions gives the functions of a file that a query means, and the copies of them that were inlined.
func (f *Finder) Functions(q Query) ([]Function, *File, error) {
	e, out, err := f.file(q.File)
	if err != nil {
		return nil, nil, withColon(q, err)
	}
	if strings.HasPrefix(q.Pattern, "0x") && q.Source == "" {
		fn, err := atAddress(e, out, q.Pattern)
		return []Function{fn}, out, err
	}
	list, inSource, err := f.matching(e, out, q)
	if err != nil {
		return nil, nil, err
	}
	exact := !naming.IsPattern(q.Pattern)
	for _, fn := range list {
		if exact && out.NoReturnProbes == "" && !q.Behind {
			out.NoReturnProbes = returnsByInstruction(e, fn)
		}
	}
	wanted, err := elffile.Matcher(q.Pattern)
	if err != nil {
		return nil, nil, err
	}
	var found []Function
	files := f.filesOf(out, q, inSource)
	for _, fn := range list {
		look := describe
		if q.Behind {
			look = outline
		}
		one, err := look(e, out, fn)
		one.File = files[fn.Addr]
		one.Turns = !q.Behind && len(list) <= mostTurns && turns(e, fn, fn.Addr+one.Entry-one.Start)
		if base, is := fn.CloneOf(); is && wanted(base) {
			one.Name = elffile.DemangleShort(base)
		}
		switch {
		case err == nil && exact:
			found = append(found, one)
		case err == nil:
			one.Others = others(e, fn, q.Pattern)
			found = append(found, one)
		case exact:
			return nil, nil, err
		default:
			if out.Left++; out.Left == 1 {
				out.Why = err.Error()
			}
		}
	}
	return append(found, f.copiesOf(e, out, q, inSource, len(found))...), out, nil
}
