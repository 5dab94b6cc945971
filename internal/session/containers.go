package session

import (
	"fmt"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/loss"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/state"
	"github.com/startrace/startrace/internal/twins"
	"github.com/startrace/startrace/starlark/value"
)

// Containers moved into their maps when a part is loaded, and the message that what the script put there does not fit.

// containers are those of the script that kernel halves use, in their maps from
// the loading of the first part that uses them to the end of the run.
type containers struct {
	// env has the containers as the script sees them.
	env *builtins.Env
	// machine finds functions of the kernel, for walks over maps.
	machine *machine.Machine
	// decoder makes values of what is in the maps.
	decoder *value.Decoder
	// parts are those that are loaded.
	parts *parts.Parts
	// twins compares what handlers have done on both sides, in tests. It is nil in all other runs.
	twins *twins.Twins

	// backends are the containers in their maps, in the order in which parts have used them first. The session closes
	// them at the end of the run.
	backends []state.Container
	// bound has the numbers of the containers that are in maps by now.
	bound map[int]bool
	// oldest counts what full tables have dropped to make room.
	oldest loss.Oldest
}

// bind moves the containers that a part uses first into their maps, with what the
// script has written so far.
func (c *containers) bind(p *parts.Part) error {
	options := state.Options{FuncID: c.machine.FuncID, Epochs: p.Loaded.Map(tree.MapEpochs)}
	for i, container := range c.env.Containers() {
		decl := p.Unit.Tree.Containers[i]
		if decl == nil || c.bound[i] {
			continue
		}
		m := p.Loaded.Map(tree.ContainerMap(i))
		if m == nil {
			return fmt.Errorf("the unit has no map for %s", decl.Container.Title())
		}
		backend, err := state.New(decl, m, options)
		if err != nil {
			return err
		}
		c.backends = append(c.backends, backend)
		c.bound[i] = true
		c.watch(decl, backend, container)
		if c.twins != nil {
			container = c.twins.Of(container, decl.Container, p.Result.Alone[i])
			container.SetKeyParts(p.Result.KeyParts[i])
		}
		if agg, ok := container.(*value.Agg); ok {
			agg.BindAgg(backend, c.decoder, decl.Agg)
		} else if err := container.Bind(backend, c.decoder); err != nil {
			return fmt.Errorf("%s: what the script itself put into it does not fit what kernel halves do: %w", decl.Pos,
				err)
		}
	}
	return nil
}

// watch counts what is put into a table that drops its oldest entries.
func (c *containers) watch(decl *tree.Container, backend state.Container, container value.Container) {
	table, ok := backend.(interface{ Written() uint64 }) // by user space
	if ok && decl.LRU {
		c.oldest.Watch(decl, container, func() uint64 { return table.Written() + c.parts.Written(decl.ID) })
	}
}

// settle says that no program changes anything any more.
func (c *containers) settle() {
	for _, b := range c.backends {
		b.Settle()
	}
}
