package listing

import (
	"errors"
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
)

// kernelFunctions finds functions of the kernel and of its modules.
func (s *Source) kernelFunctions(r *Result, k *kind, rest string) error {
	name, _, _ := strings.Cut(orAll(rest), "+") // an offset does not change which it is
	module, name := splitModule(name)
	found, err := s.Facts.MatchFunctionNames(module, name)
	var none *kernel.NoFunctionError
	switch {
	case errors.As(err, &none):
		if none.Near != "" {
			r.hint(didYouMean(k.name + ":" + none.Near))
		}
		return nil
	case err != nil:
		if _, bad := kernel.CompileGlob(name); bad != nil {
			return err
		}
		r.problem(fmt.Errorf("%w; shown are those that BTF names, of which not all can be probed", err))
		found = s.inBTF(name)
	}
	points := make([]Point, len(found))
	for i, fn := range found {
		points[i] = Point{Name: k.name + ":" + fn.Name, Kind: k.name, Module: fn.Module}
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
	glob, err := kernel.CompileGlob(pattern)
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
func (s *Source) kernelFunction(k *kind, name kernel.FunctionName) func(*Point) {
	return func(p *Point) {
		fn := s.Facts.Typed(name)
		typed := fn.ID != 0
		if k.has("args") {
			if p.Fields = s.params(fn.Params); !typed {
				p.Fields = append(p.Fields, Field{Name: "e.args[0]", Type: "int",
					Note: "and so on: its types are not known here"})
			}
		}
		switch {
		case k.has("ret") && !typed:
			p.Fields = append(p.Fields, Field{Name: "e.ret", Type: "int", Note: "its type is not known here"})
		case k.has("ret") && fn.Ret != 0:
			p.Fields = append(p.Fields, s.typed("e.ret", fn.Ret))
		case k.has("ret"):
			p.Notes = append(p.Notes, "it returns nothing (void)")
		}
		p.Fields = append(p.Fields, spanFields(k)...)
		if k.short != "f" && k.short != "fr" {
			p.Notes = append(p.Notes, s.refusal(fn.Name)...)
		}
		if k.name == "func" {
			p.Notes = append(p.Notes, "also kprobe:, kretprobe:, fentry:, fexit:"+fn.Name)
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
func spanFields(k *kind) (out []Field) {
	if k.has("duration") {
		out = append(out, Field{Name: "e.duration", Type: "int", Size: 8,
			Note: "ns; e.start is the event at the start"})
	}
	if k.has("depth") {
		out = append(out, Field{Name: "e.depth", Type: "int", Note: "calls of it that are open around this one"})
	}
	return out
}

// missing says which way to probe this kernel lacks.
func (s *Source) missing(k *kind) error {
	has := s.Facts.Features()
	ok, why := true, ""
	switch k.name {
	case "kprobe", "kretprobe":
		ok, why = has.Kprobe, has.Why["kprobe"]
		if k.name == "kprobe" {
			ok = ok || s.Facts.Trampolines().There // which then takes its place
		}
	case "fentry", "fexit", "func":
		ok, why = has.Kprobe || s.Facts.Trampolines().There, has.Why["kprobe"]
	case "uprobe", "uretprobe", "ufunc", "usdt":
		ok, why = has.Uprobe, has.Why["uprobe"]
	}
	if ok {
		return nil
	}
	if why != "" {
		why = ": " + why
	}
	return errors.New("this kernel cannot attach " + k.name + " probes" + why)
}
