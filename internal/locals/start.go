package locals

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/location"
)

// AtStart gives the parameters of the function that begins at an address, where they are when it is called: of one
// whose calls an optimizer has changed, of which no convention tells that. Those that debug information does not
// certainly have there are nowhere. There are none of a function that was compiled without optimization, nor of Go.
func (f *Finder) AtStart(addr uint64) ([]Variable, error) {
	within, err := f.path(addr)
	if err != nil || len(within) == 0 || within[0].Tag != dwarf.TagSubprogram {
		return nil, err
	}
	ranges, err := within[0].Ranges()
	if err != nil || len(ranges) == 0 || ranges[0][0] != addr {
		return nil, err
	}
	p := &parameters{walk: walk{Finder: f, pc: addr, function: within[0]}, copy: within[0]}
	if p.compiler(); p.plain || p.golang {
		return nil, nil
	}
	if err := p.own(); err != nil {
		return nil, err
	}
	list, err := p.list()
	if err != nil {
		return nil, err
	}
	if !p.gcc {
		onlyOwnRegisters(list)
	}
	return list, nil
}

// onlyOwnRegisters leaves what LLVM says of parameters as far as it holds for their calls. It says of one that is
// changed at once only what comes after that:
//
//	static int f(int mode, long a) { mode = 5; …     the constant 5
//	static int f(int mode, long a) { mode = a; …     the register that a is in
func onlyOwnRegisters(list []Variable) {
	users := map[string]int{}
	for _, v := range list {
		for _, name := range registersOf(v.Place) {
			users[name]++
		}
	}
	for i := range list {
		names := registersOf(list[i].Place)
		own := len(names) > 0
		for _, name := range names {
			own = own && users[name] == 1
		}
		if !own {
			list[i].Place = location.Place{}
		}
	}
}

// registersOf are the registers that a value is in; none where it is in anything else.
func registersOf(p location.Place) (out []string) {
	switch {
	case p.Kind == location.Held && p.Value.Op == location.Register:
		return []string{p.Value.Name}
	case p.Kind == location.Split:
		for _, part := range p.Fragments {
			if part.Kind != location.Held || part.Value.Op != location.Register {
				return nil
			}
			out = append(out, part.Value.Name)
		}
	}
	return out
}
