package binary

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/gofunc"
	"github.com/startrace/startrace/internal/locals"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/sourcefunc"
	"github.com/startrace/startrace/internal/sourceline"
)

// Functions by their source file, and copies that were inlined: where each begins, and messages when there is none.
// Debug information tells of both.

// matching gives the functions that a query means as far as they have code of their own, and what debug information
// says of them.
func (f *Finder) matching(e *elffile.File, at *File, q Query) ([]elffile.Function, []*sourcefunc.Function, error) {
	inSource, err := f.inSource(e, at, q)
	if err != nil {
		return nil, nil, err
	}
	at.Lost = cmp.Or(f.lost(at.Path), at.Lost)
	onlyCalls(e, inSource)
	if q.Source != "" {
		return f.oneForEachCall(e, at, bodies(e, inSource), inSource, q), inSource, nil
	}
	list, exact, err := match(e, q.Pattern)
	if errors.Is(err, elffile.ErrNoFunction) {
		if err = f.withoutParameters(e, at, q, err); countCopies(inSource) > 0 {
			err = nil
		} else if at.Lost != "" { // with all that was inlined
			err = fmt.Errorf("%w; it may be one that was inlined: of some source files %s", err, at.Lost)
		}
	}
	if exact && countCopies(inSource) > 0 {
		list = slices.DeleteFunc(list, func(fn elffile.Function) bool { // what the copies call
			return strings.Contains(fn.Name, ".part.") && fn.Name != q.Pattern
		})
	}
	return f.oneForEachCall(e, at, list, inSource, q), inSource, err
}

// lost says which parts of the debug information of a file that was looked at are not known; "": none.
func (f *Finder) lost(path string) string {
	if missing := f.missing[path]; missing != nil {
		return missing.Error()
	}
	table := f.tables[path]
	if table == nil {
		return ""
	}
	if list := table.Data().LostUnits(); len(list) > 0 {
		return "the debug information is in files of their own, " + dwarfinfo.Tell(list)
	}
	if _, err := table.Data().Units(); err != nil {
		return damagedInfo
	}
	return ""
}

// damagedInfo is what is said where debug information of a program cannot be read.
const damagedInfo = "the debug information is damaged: build the program anew"

// withoutParameters says of a function that is not found that the program has copies by its name, of which debug
// information does not tell the parameters: g++ does so of what it has inlined wherever it is called.
func (f *Finder) withoutParameters(e *elffile.File, at *File, q Query, err error) error {
	name, _, with := strings.Cut(q.Pattern, "(")
	if !with || name == "" || naming.IsPattern(name) {
		return err
	}
	bare := q
	bare.Pattern = name
	if found, wrong := f.inSource(e, at, bare); wrong != nil || countCopies(found) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w: %q: it was inlined wherever it is called, and debug information does not tell the "+
		"parameters of that; uprobe:%s:%s means all functions of the name", e.Path, elffile.ErrNoFunction, q.Pattern,
		at.Name, name)
}

// onlyCalls leaves out what goes on with a coroutine of C++, or ends it, which debug information has by the name of the
// coroutine.
func onlyCalls(e *elffile.File, inSource []*sourcefunc.Function) {
	goesOn := func(addr uint64) bool { return slices.ContainsFunc(e.Aliases(addr), elffile.GoesOn) }
	for _, fn := range inSource {
		fn.Bodies = slices.DeleteFunc(fn.Bodies, goesOn)
		fn.Copies = slices.DeleteFunc(fn.Copies, func(c sourcefunc.Copy) bool { return goesOn(c.Body) })
	}
}

// inSource is what debug information says of the functions of a query; nothing where there is none, and no file of the
// source is asked for.
func (f *Finder) inSource(e *elffile.File, at *File, q Query) ([]*sourcefunc.Function, error) {
	table := f.signatures(at.Path, e)
	if table == nil {
		if q.Source != "" {
			return nil, f.withoutDebugInfo(at)
		}
		return nil, nil
	}
	is, err := elffile.Matcher(q.Pattern)
	if err != nil {
		return nil, err
	}
	ask := sourcefunc.Query{Name: is}
	if !naming.IsPattern(q.Pattern) {
		ask.Text = q.Pattern
	}
	if q.Source == "" {
		found, err := f.find(at.Path, table.Data(), ask)
		if err != nil {
			at.Lost = damagedInfo
			return nil, nil // the functions are known all the same
		}
		return found, nil
	}
	if ask.Files, err = sourceFiles(q.Source); err != nil {
		return nil, err
	}
	found, err := sourcefunc.Find(table.Data(), ask)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", at.Name, err)
	case len(found) == 0:
		return nil, inSourceLost(table.Data(), f.notInSource(table.Data(), at, q))
	}
	return found, nil
}

// find gives the functions of a program that are wanted in any source file. They are the caller's own: it leaves some
// of their bodies and copies out. Scripts ask for one function in several probes, and a search walks over all of the
// debug information: what a name means is kept. What a pattern means can be the whole program, and is not.
func (f *Finder) find(path string, d *dwarfinfo.Data, q sourcefunc.Query) ([]*sourcefunc.Function, error) {
	if q.Text == "" {
		return sourcefunc.Find(d, q)
	}
	found, ok := f.asked[path][q.Text]
	if !ok {
		var err error
		if found, err = sourcefunc.Find(d, q); err != nil {
			return nil, err
		}
		if f.asked == nil {
			f.asked = map[string]map[string][]*sourcefunc.Function{}
		}
		if f.asked[path] == nil {
			f.asked[path] = map[string][]*sourcefunc.Function{}
		}
		f.asked[path][q.Text] = found
	}
	own := make([]*sourcefunc.Function, len(found))
	for i, fn := range found {
		one := *fn
		one.Bodies, one.Copies = slices.Clone(fn.Bodies), slices.Clone(fn.Copies)
		own[i] = &one
	}
	return own, nil
}

// sourceFiles are those of a name or pattern.
func sourceFiles(text string) (*sourceline.Files, error) {
	if !naming.IsPattern(text) {
		return sourceline.FilesOf(text), nil
	}
	g, err := naming.Compile(text)
	if err != nil {
		return nil, err
	}
	return sourceline.FilesLike(text, g.Match), nil
}

// notInSource says what functions the files have instead, or which file has the function.
func (f *Finder) notInSource(d *dwarfinfo.Data, at *File, q Query) error {
	files, err := sourceFiles(q.Source)
	if err != nil {
		return err
	}
	all := func(string) bool { return true }
	found, err := sourcefunc.Find(d, sourcefunc.Query{Name: all, Files: files})
	if err != nil {
		return fmt.Errorf("%s: %w", at.Name, err)
	}
	var names []string
	for _, fn := range found {
		names = append(names, elffile.DemangleShort(fn.Name))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	message := fmt.Sprintf("no function of %s in %s matches %s", q.Source, at.Name, q.Pattern)
	if near := naming.Suggest(q.Pattern, names); near != "" {
		return fmt.Errorf("%s; did you mean %q?", message, near)
	}
	if other := f.elsewhere(d, q.Pattern); other != "" {
		return fmt.Errorf("%s; %s", message, other)
	}
	switch {
	case len(names) == 0 && len(d.LostUnits()) > 0:
		return errors.New(message)
	case len(names) == 0:
		return fmt.Errorf("%s: none of its functions has code", message)
	}
	more := ""
	if len(names) > mostNamed {
		names, more = names[:mostNamed], " and more"
	}
	return fmt.Errorf("%s; there is %s%s", message, strings.Join(names, ", "), more)
}

// mostNamed is how many names a message has.
const mostNamed = 6

// elsewhere says in which file a function of a name is; "" for a pattern, and where there is none.
func (f *Finder) elsewhere(d *dwarfinfo.Data, name string) string {
	if naming.IsPattern(name) {
		return ""
	}
	is, err := elffile.Matcher(name)
	if err != nil {
		return ""
	}
	every := sourceline.FilesLike("*", func(string) bool { return true })
	found, err := sourcefunc.Find(d, sourcefunc.Query{Name: is, Text: name, Files: every})
	if err != nil || len(found) == 0 {
		return ""
	}
	return fmt.Sprintf("%s is in %s", name, found[0].File)
}

// bodies are the functions that have code of their own. Parts of functions are not called.
func bodies(e *elffile.File, list []*sourcefunc.Function) (out []elffile.Function) {
	for _, fn := range list {
		for _, addr := range fn.Bodies {
			known, ok := e.At(addr)
			offset, isCode := e.CodeOffset(addr)
			switch {
			case !isCode, ok && strings.Contains(known.Name, ".part.") && len(fn.Copies) > 0:
				continue
			case !ok || known.Addr != addr:
				known = elffile.Function{Name: fn.Name, Addr: addr, Offset: offset}
			}
			known.Name = nameLike(e, known, fn.Name)
			out = append(out, known)
		}
	}
	slices.SortStableFunc(out, func(a, b elffile.Function) int { return cmp.Compare(a.Addr, b.Addr) })
	return slices.CompactFunc(out, func(a, b elffile.Function) bool { return a.Addr == b.Addr })
}

// nameLike is, of the names of a function, the one that debug information gives it, or that of a clone of it.
func nameLike(e *elffile.File, fn elffile.Function, wanted string) string {
	for _, name := range e.Aliases(fn.Addr) {
		base, is := elffile.CloneOf(name, fn.Local)
		if name == wanted || is && base == wanted || elffile.DemangleShort(name) == wanted {
			return name
		}
	}
	return fn.Name
}

// filesOf are the files of the source in which functions are defined, by the addresses of the functions; nothing where
// none was asked for.
func (f *Finder) filesOf(at *File, q Query, list []*sourcefunc.Function) map[uint64]string {
	out := map[uint64]string{}
	for _, fn := range list {
		for _, addr := range fn.Bodies {
			if q.Source != "" {
				out[addr] = f.names.of(at.Path, f.tables[at.Path]).of(fn.File)
			}
		}
	}
	return out
}

// countCopies counts those of some functions.
func countCopies(list []*sourcefunc.Function) (n int) {
	for _, fn := range list {
		n += len(fn.Copies)
	}
	return n
}

// copiesOf gives the copies, of a query by which so many functions were found.
func (f *Finder) copiesOf(e *elffile.File, at *File, q Query, list []*sourcefunc.Function, found int) (out []Function) {
	p := &placing{Finder: f, e: e, at: at, table: f.tables[at.Path]}
	wanted := q.Copies && countCopies(list)+found <= q.Most
	type begun struct {
		place dwarf.Offset
		entry uint64
	}
	seen := map[begun]bool{}
	for _, fn := range list {
		n := 0
		for i := range fn.Copies {
			c := &fn.Copies[i]
			if _, isCode := e.CodeOffset(c.Entry); !isCode || seen[begun{c.Place, c.Entry}] {
				continue // the linker has thrown it away
			}
			seen[begun{c.Place, c.Entry}] = true
			if n++; !wanted {
				continue
			}
			one, err := p.place(fn, c)
			if q.Source != "" {
				one.File = f.names.of(at.Path, f.tables[at.Path]).of(fn.File)
			}
			if err == nil {
				out = append(out, one)
			} else if at.Left++; at.Left == 1 {
				at.Why = fmt.Sprintf("a copy of %s: %v", elffile.DemangleShort(fn.Name), err)
			}
		}
		if more, thunk := copiesInThunks(e, fn.Copies); wanted && more > 0 {
			if at.Left += more; at.Left == more {
				at.Why = fmt.Sprintf("a copy of %s: debug information says nothing of the one in %s",
					elffile.DemangleShort(fn.Name), elffile.Demangle(thunk.Name))
			}
		}
		if n > 0 && !wanted {
			at.Copies += n
			at.Inlined = append(at.Inlined, elffile.DemangleShort(fn.Name))
		}
	}
	return out
}

// placing finds where probes of copies stand. Those of one function are mostly asked for one after the other.
type placing struct {
	*Finder
	e     *elffile.File
	at    *File
	table *signature.Functions
	// last is the function that was asked for last, with its code.
	last elffile.Function
	flow *gofunc.Flow
	code []byte
}

// place is where a probe of a copy stands.
func (p *placing) place(fn *sourcefunc.Function, c *sourcefunc.Copy) (Function, error) {
	offset, _ := p.e.CodeOffset(c.Entry)
	out := Function{Name: elffile.DemangleShort(fn.Name), Start: offset, Addr: c.Entry, Entry: offset,
		Copy: &Copy{c.Place, c.Around, c.Entry, c.View}, NoReturn: "it was inlined, and has no return"}
	out.Source = p.names.of(p.at.Path, p.table).line(c.File, c.Line)
	around, ok := p.e.At(c.Entry)
	if !ok || around.Size == 0 {
		return out, nil
	}
	if err := p.take(around); err != nil {
		return out, err
	}
	inside := int(c.Entry - around.Addr)
	if !p.flow.Begins(inside) {
		return out, fmt.Errorf("debug information has it at %#x, where no instruction begins", c.Entry)
	}
	at, err := p.begin(around, inside, c)
	if err != nil {
		return out, err
	}
	begin, err := p.steppable(at.probe, c)
	if err != nil {
		return out, fmt.Errorf("it begins with %w", err)
	}
	if begin != at.probe {
		at.values = begin
	}
	out.Copy.Begin, out.Turns = around.Addr+uint64(at.values), at.turns
	out.Start, out.Addr, out.Entry = around.Offset, around.Addr, around.Offset+uint64(begin)
	out.Goroutine = p.e.Language(around) == elffile.LanguageGo
	return out, nil
}

// steppable is the first instruction of a copy, from its beginning on, that the kernel can run at another place, of
// those that run whenever the copy does; if it has none, the one in front of it.
func (p *placing) steppable(begin int, c *sourcefunc.Copy) (int, error) {
	can := func(at int) error { return steps(p.e, p.last.Addr+uint64(at)) }
	err := can(begin)
	if err == nil {
		return begin, nil
	}
	_, ranges, bad := p.entryOf(c)
	if bad != nil {
		return begin, bad
	}
	for _, at := range p.flow.Straight(begin, len(p.code)) {
		addr := p.last.Addr + uint64(at)
		if !slices.ContainsFunc(ranges, func(r [2]uint64) bool { return addr >= r[0] && addr < r[1] }) {
			break
		}
		if can(at) == nil {
			return at, nil
		}
	}
	if before, ok := p.flow.Before(begin); ok && can(before) == nil {
		return before, nil
	}
	return begin, err
}

// entryOf is what debug information says of a copy, and where its code is; nil where nobody knows.
func (p *placing) entryOf(c *sourcefunc.Copy) (entry *dwarfinfo.Entry, ranges [][2]uint64, err error) {
	entry, err = p.table.Data().Entry(c.Place)
	if err != nil || entry == nil {
		return nil, nil, err
	}
	ranges, err = entry.Ranges()
	return entry, ranges, err
}

// take takes the code of a function apart.
func (p *placing) take(around elffile.Function) error {
	if p.flow != nil && p.last.Addr == around.Addr {
		return nil
	}
	code, err := p.e.Code(around.Addr, around.Size)
	if err != nil {
		return err
	}
	p.last, p.code = around, code
	p.flow, err = gofunc.NewFlow(runtime.GOARCH, code)
	return err
}

// A beginning of a copy is where its probe stands in the function around it, and where its parameters are looked for.
// Turns: the probe hits at each turn of a loop in the copy.
type beginning struct {
	probe, values int
	turns         bool
}

// begin is the beginning of a copy. Instructions of Go that do nothing mark copies.
func (p *placing) begin(around elffile.Function, inside int, c *sourcefunc.Copy) (beginning, error) {
	if p.e.Language(around) == elffile.LanguageGo {
		behind, err := gofunc.Entry(runtime.GOARCH, p.code)
		return beginning{max(inside, behind), inside, false}, err // the look at the stack may run twice
	}
	entry, ranges, err := p.entryOf(c)
	if err != nil || entry == nil {
		return beginning{inside, inside, false}, err
	}
	own := func(offset int) bool {
		addr := around.Addr + uint64(offset)
		return slices.ContainsFunc(ranges, func(r [2]uint64) bool { return addr >= r[0] && addr < r[1] })
	}
	var stretches []int
	for _, r := range ranges {
		stretches = append(stretches, int(int64(r[0]-around.Addr)))
	}
	if first := stretches[:min(1, len(stretches))]; !c.Several && !entry.Has(dwarf.AttrEntrypc) && len(first) > 0 &&
		first[0] < inside && p.flow.StoresBefore(first[0], inside, own) {
		inside = first[0] // debug information has it begin behind what seems to be put in front of a loop
	} else if !c.Several && !entry.Has(dwarf.AttrEntrypc) {
		inside = p.flow.EnteredAt(inside, !c.First, own)
	}
	if !c.Several && !c.First {
		inside = p.flow.AfterHoisted(inside, stretches, own)
	}
	if behind := p.flow.BehindPadding(inside, own); behind != inside {
		return beginning{behind, inside, false}, nil
	}
	at, turns := p.flow.IntoLoop(inside, own)
	return beginning{at, at, turns}, nil
}

// Parameters gives the parameters of a copy that was inlined, where it begins; nil where nobody knows.
func (f *Finder) Parameters(at *File, fn Function) ([]locals.Variable, error) {
	l := f.knownLocals(at)
	if l == nil || fn.Copy == nil {
		return nil, nil
	}
	return l.Parameters(fn.Copy.Place, fn.Copy.Around, fn.Copy.Begin, fn.Copy.View)
}

// SourceAt gives the line of the source that an instruction of a function is of, as "cart.c:12"; "" where that is not
// known.
func (f *Finder) SourceAt(at *File, fn Function, inside uint64) string {
	table := f.described(at)
	if table == nil {
		return ""
	}
	addr := fn.Addr + inside
	u, err := table.Data().UnitOf(addr)
	if err != nil || u == nil {
		return ""
	}
	rows, err := sourceline.NewTables(table.Data()).Stretches(u)
	if here := rows.Between(addr, addr+1); err == nil && len(here) > 0 && here[0].Line > 0 {
		return f.names.of(at.Path, table).line(here[0].File, here[0].Line)
	}
	return ""
}

// Definition gives the line of the source at which a function that has code of its own is defined, as "cart.c:12"; ""
// where that is not known.
func (f *Finder) Definition(at *File, fn Function) string {
	table := f.described(at)
	if table == nil {
		return ""
	}
	file, line := table.Definition(fn.Addr)
	return f.names.of(at.Path, table).line(file, line)
}
