package listing

import (
	"errors"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/point"
)

// Functions of the kernel in `startrace list`, with the fields that e has at their calls.

// kernelFunctions finds functions of the kernel and of its modules.
func (s *Source) kernelFunctions(r *Result, k *point.Kind, rest string) error {
	name, _, _ := strings.Cut(orAll(rest), "+") // an offset does not change which it is
	module, name := splitModule(name)
	found, err := s.Facts.MatchFunctionNames(module, name)
	var none *kernel.NoFunctionError
	switch {
	case errors.As(err, &none):
		if none.Near != "" {
			r.hint(didYouMean(k.Name + ":" + none.Near))
		}
		return nil
	case err != nil:
		if _, bad := naming.Compile(name); bad != nil {
			return err
		}
		r.problem(fmt.Errorf("%w; shown are those that BTF names, of which not all can be probed", err))
		found = s.inBTF(name)
	}
	points := make([]Point, len(found))
	for i, fn := range found {
		points[i] = Point{Name: k.Name + ":" + fn.Name, Kind: k.Name, Module: fn.Module}
		if s.Verbose {
			points[i].detail = s.kernelFunction(k, fn)
		}
		r.Points = append(r.Points, &points[i])
	}
	if len(found) > 0 {
		r.problem(s.missing(k))
	}
	return nil
}

// splitModule takes MODULE:FUNCTION apart; the module is "" where none is named.
func splitModule(text string) (module, name string) {
	module, name, named := strings.Cut(text, ":")
	if !named {
		return "", text
	}
	return strings.ReplaceAll(module, "-", "_"), orAll(name)
}

// inBTF gives the functions that the kernel's types name: everybody may read
// these.
func (s *Source) inBTF(pattern string) (out []kernel.FunctionName) {
	b, err := s.Facts.BTF()
	if err != nil {
		return nil
	}
	glob, err := naming.Compile(pattern)
	if err != nil {
		return nil
	}
	for _, name := range b.Names(kernel.KindFunc) {
		if glob.Match(name) {
			out = append(out, kernel.FunctionName{Name: name})
		}
	}
	return out
}

// kernelFunction says what a function takes and gives.
func (s *Source) kernelFunction(k *point.Kind, name kernel.FunctionName) func(*Point) {
	return func(p *Point) {
		fn := s.Facts.Typed(name)
		typed := fn.ID != 0
		if k.Has("args") {
			if p.Fields = s.params(fn.Params); !typed {
				p.Fields = append(p.Fields, Field{Name: "e.args[0]", Type: "int",
					Note: "and so on: its types are not known here"})
			}
		}
		switch {
		case k.Has("ret") && !typed:
			p.Fields = append(p.Fields, Field{Name: "e.ret", Type: "int", Note: "its type is not known here"})
		case k.Has("ret") && fn.Ret != 0:
			p.Fields = append(p.Fields, s.typed("e.ret", fn.Ret))
		case k.Has("ret"):
			p.Notes = append(p.Notes, "it returns nothing (void)")
		}
		p.Fields = append(p.Fields, spanFields(k)...)
		if k.Blacklisted {
			p.Notes = append(p.Notes, s.refusal(fn.Name)...)
		}
		if k.Has("duration") {
			p.Notes = append(p.Notes, "also "+others(k)+":"+fn.Name)
		}
	}
}

// refusal says why the kernel takes no kprobe at a function, if it does not.
func (s *Source) refusal(name string) []string {
	list, err := s.Facts.Blacklist()
	if err == nil {
		err = list.Check(name)
	}
	if err == nil {
		return nil
	}
	return []string{err.Error()}
}

// spanFields are those that e has at the end of any span.
func spanFields(k *point.Kind) (out []Field) {
	if k.Has("duration") {
		out = append(out, Field{Name: "e.duration", Type: "int", Size: 8,
			Note: "ns; e.start is the event at the start"})
	}
	if k.Has("depth") {
		out = append(out, Field{Name: "e.depth", Type: "int", Note: "calls of it that are open around this one"})
	}
	return out
}

// others are the other kinds of a family by their names.
func others(k *point.Kind) string {
	var names []string
	for _, other := range k.Family.Kinds {
		if other != k {
			names = append(names, other.Name)
		}
	}
	return strings.Join(names, ":, ")
}

// missing says that this kernel cannot attach probes of the kind.
func (s *Source) missing(k *point.Kind) error {
	if k.Lacking == nil {
		return nil
	}
	lacking, why := k.Lacking(s.Facts)
	if !lacking {
		return nil
	}
	if why != "" {
		why = ": " + why
	}
	return errors.New("this kernel cannot attach " + k.Name + " probes" + why)
}
