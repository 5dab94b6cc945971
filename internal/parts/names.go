package parts

import (
	"strconv"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/starlark/value"
)

// Names of functions and points by their numbers in a run.

// Names are those of functions and points, which programs know by number. They
// grow with each part. User halves can put others beside them, which get numbers
// from ownName down.
type Names struct {
	// kernel are the names that the units have (tree.Unit.Names). The name at index i has the number -i-1.
	kernel []string
	// own are the names that user halves have put beside them. The name at index i has the number ownName-i.
	own []string
	// number has the number of each name of both.
	number map[string]int64
}

// ownName is the number of the first name of names.own.
const ownName = -(1 << 40)

// Label makes the labels of points and functions mean their names.
func (n *Names) Label(env *builtins.Env) {
	env.Labels.Ints["name"] = n.Text
	of := func(string) value.LabelFunc { return n.Text }
	env.Labels.With["func"], env.Labels.With["point"] = of, of
	env.Labels.Number = n.numberOf
}

// Text is the name of a function or point by its number.
func (n *Names) Text(v uint64) string {
	number := int64(v)
	if text, ok := tree.NameOf(number, n.kernel); ok {
		return text
	}
	if i := ownName - number; i >= 0 && i < int64(len(n.own)) {
		return n.own[i]
	}
	return "point " + strconv.FormatInt(number, 10)
}

// Bind takes the names of a part, which begin with those of parts before.
func (n *Names) Bind(p *Part) error {
	list := p.Result.Tree.Names
	if n.number == nil {
		n.number = map[string]int64{}
	}
	for i := len(n.kernel); i < len(list); i++ {
		n.number[list[i]] = -int64(i) - 1
	}
	if len(list) > len(n.kernel) {
		n.kernel = list
	}
	return nil
}

// numberOf is the number by which programs keep a name.
func (n *Names) numberOf(text string) uint64 {
	if number, ok := tree.SyscallNumber(text); ok {
		return uint64(number)
	}
	number, ok := n.number[text]
	if !ok {
		number = ownName - int64(len(n.own))
		n.own = append(n.own, text)
		if n.number == nil {
			n.number = map[string]int64{}
		}
		n.number[text] = number
	}
	return uint64(number)
}
