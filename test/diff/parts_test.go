package diff

import (
	"testing"

	"go.starlark.net/starlark"
)

// Attr reads a member where a script is the reference as it stands; what cannot be read is in no input of TestUserParts.
func (p *place) Attr(name string) (starlark.Value, error) {
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
	needBPF(t)
	c := &checker{facts: facts(t), inputs: Inputs(4, 40)}
	for i := range c.inputs { // None has no fields in the interpreter
		in := &c.inputs[i]
		in.P = i % KernelNodes
		for j := range in.Nodes {
			in.Nodes[j].Next = (2*j + i + 1) % KernelNodes
		}
	}
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
