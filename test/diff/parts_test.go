package diff

import (
	"strconv"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
	"github.com/startrace/startrace/test/need"
)

// Attr reads a member where a script is the reference as it stands. Memory that cannot be read is FAULT.
func (p *place) Attr(name string) (starlark.Value, error) {
	if n, ok := strings.CutPrefix(name, "mem"); ok { // mem(p, n)
		n, err := strconv.Atoi(n)
		if p.node == Nowhere {
			return value.FAULT, err
		}
		return value.Bytes(p.in.Nodes[p.node].Raw[p.off:][:n]), err
	}
	return attr(nil, nil, starlark.Tuple{p, starlark.String(name)}, nil)
}

// AttrNames gives the members.
func (p *place) AttrNames() []string {
	var names []string
	for _, m := range p.members {
		names = append(names, m.Name)
	}
	return names
}

// TestUserParts runs the programs of testdata/parts.star: one expression that is several parts of the event, because
// it stands in a function that is called more than once, or in a loop; and variables with several values.
func TestUserParts(t *testing.T) {
	need.Loading(t)
	c := &checker{facts: facts(t), inputs: leadingOn(Inputs(4, 40))}
	programs := written(t, "testdata/parts.star")
	for _, p := range programs {
		c.checkUser([]*Program{p})
	}
	if c.runs-c.errors < 20*len(programs) {
		t.Errorf("%d runs, of which %d ended with an error: that compares little", c.runs, c.errors)
	}
	for _, f := range c.found {
		t.Error(f)
	}
}

// leadingOn makes all pointers lead to what can be read: None has no fields in the interpreter.
func leadingOn(inputs []Input) []Input {
	for i := range inputs {
		in := &inputs[i]
		in.P = i % KernelNodes
		for j := range in.Nodes {
			in.Nodes[j].Next = (2*j + i + 1) % KernelNodes
			in.Nodes[j].Link = (j + i) % KernelNodes
		}
	}
	return inputs
}
