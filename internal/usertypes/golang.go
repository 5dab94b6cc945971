package usertypes

import (
	"debug/dwarf"
	"slices"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/kernel"
)

// Types of Go known by their attributes: maps, channels, interfaces, times.

// The attributes of Go (cmd/internal/dwarf): the kind of a type as package reflect has it, where the runtime describes
// it, from the first description on, and whether a member is embedded.
const (
	attrGoKind        = dwarf.Attr(0x2900)
	attrGoEmbedded    = dwarf.Attr(0x2903)
	attrGoRuntimeType = dwarf.Attr(0x2904)
)

// The kinds of types of Go whose values are pointers that the source does not write, that of slices, and the bits that
// are a kind.
const (
	goKindChan, goKindMap = 18, 21
	goKindSlice           = 23
	goKindBits            = 31
)

// goForms are the types of Go by their names.
var goForms = map[string]kernel.GoForm{
	"runtime.iface": kernel.GoInterface, "runtime.eface": kernel.GoInterface, "time.Time": kernel.GoTime,
	"time.Duration": kernel.GoDuration,
}

// ofGo reports whether a type is one of Go.
func ofGo(e *dwarfinfo.Entry) bool {
	root, err := e.Unit().Root()
	return err == nil && root != nil && root.Val(dwarf.AttrLanguage) == int64(langGo)
}

// goForm notes what a type of Go is that C has not, if it is one by its kind or its name.
func (c *conversion) goForm(id kernel.TypeID, e *dwarfinfo.Entry) {
	form := goForms[nameOf(e)]
	if number(e, attrGoKind)&goKindBits == goKindSlice {
		form = kernel.GoSlice
	}
	if form != 0 && ofGo(e) {
		c.out.Go(id, kernel.GoType{Form: form, Name: nameOf(e)})
	}
}

// goPointer is a map or a channel: a name of a pointer to a struct of the runtime. Other names have the same pointer in
// the debug information, so each gets one of its own. false: the name is one of something else.
func (c *conversion) goPointer(e *dwarfinfo.Entry, depth int) (kernel.Type, bool) {
	var form kernel.GoForm
	switch number(e, attrGoKind) & goKindBits {
	case goKindMap:
		form = kernel.GoMap
	case goKindChan:
		form = kernel.GoChannel
	default:
		return kernel.Type{}, false
	}
	pointer := c.t.bare(e)
	if pointer == nil || pointer.Tag != dwarf.TagPointerType || !ofGo(e) {
		return kernel.Type{}, false
	}
	id := c.out.Add(kernel.Type{Kind: kernel.KindPtr, Elem: c.next(pointer, declared, depth)})
	c.out.Go(id, kernel.GoType{Form: form, Name: nameOf(e)})
	return kernel.Type{Kind: kernel.KindTypedef, Name: nameOf(e), Elem: id}, true
}

// goError is the interface error, which is another struct than those of other interfaces, so that it is told from them.
// false: the name is one of something else.
func (c *conversion) goError(e *dwarfinfo.Entry, depth int) (kernel.Type, bool) {
	if nameOf(e) != "error" || !ofGo(e) {
		return kernel.Type{}, false
	}
	is := c.t.bare(e)
	if is == nil || nameOf(is) != "runtime.iface" {
		return kernel.Type{}, false
	}
	id := c.out.New()
	c.out.Set(id, c.composite(id, is, kernel.KindStruct, depth))
	c.out.Go(id, kernel.GoType{Form: kernel.GoInterface, Name: "error"})
	return kernel.Type{Kind: kernel.KindTypedef, Name: "error", Elem: id}, true
}

// embedded reports whether a member of a struct of Go has no name of its own in the source.
func embedded(m *dwarfinfo.Entry) bool {
	switch is := m.Val(attrGoEmbedded).(type) {
	case bool:
		return is
	case int64:
		return is != 0
	}
	return false
}

// A goProgram tells of the types that values of a program of Go have when it runs.
type goProgram struct {
	t *Types
	// runtime is where they are described.
	runtime kernel.GoRuntime
	// found are those that were asked for, by name.
	found map[string]kernel.GoDynamic
}

// Golang says where a program of Go has the descriptions of its types.
func (t *Types) Golang(at kernel.GoRuntime) {
	t.golang = &goProgram{t: t, runtime: at, found: map[string]kernel.GoDynamic{}}
}

func (p *goProgram) Runtime() kernel.GoRuntime { return p.runtime }

// Dynamic looks for types by their names, with one walk through all types for those that were not asked for yet.
func (p *goProgram) Dynamic(names []string) map[string]kernel.GoDynamic {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	var want []string
	for _, name := range names {
		if _, known := p.found[name]; !known {
			p.found[name] = kernel.GoDynamic{}
			want = append(want, name)
		}
	}
	if len(want) > 0 {
		p.look(want)
	}
	out := map[string]kernel.GoDynamic{}
	for _, name := range names {
		if d := p.found[name]; d.Type != 0 {
			out[name] = d
		}
	}
	return out
}

// look looks for types of these names that values have.
func (p *goProgram) look(names []string) {
	units, err := p.t.data.Units()
	if err != nil {
		return // what is damaged tells of none
	}
	for _, u := range units {
		root, err := u.Root()
		if err != nil || root == nil || root.Val(dwarf.AttrLanguage) != int64(langGo) {
			continue
		}
		_ = p.t.data.EachChild(root, func(e *dwarfinfo.Entry) (bool, error) { // an error: those up to there
			if name := nameOf(e); name != "" && slices.Contains(names, name) {
				p.add(name, e)
			}
			return true, nil
		})
	}
}

// add notes a type of a name, if values have it: the runtime has no description of others.
func (p *goProgram) add(name string, e *dwarfinfo.Entry) {
	at, described := goOffset(e)
	if !described || p.found[name].Type != 0 {
		return
	}
	if id, err := p.t.add(e.Offset); err == nil {
		p.found[name] = kernel.GoDynamic{Type: id, At: at}
	}
}

// goOffset is how far behind the first description that of a type is; false: the runtime has none.
func goOffset(e *dwarfinfo.Entry) (uint64, bool) {
	switch at := e.Val(attrGoRuntimeType).(type) {
	case uint64:
		return at, at != 0
	case int64:
		return uint64(at), at > 0
	}
	return 0, false
}
