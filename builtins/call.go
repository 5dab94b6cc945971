package builtins

import (
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
)

// One call of a builtin: how its arguments are taken, words for arguments that other tracers have, and ints that do not
// fit in 64 bits.

// A call is one call of a builtin. Of print(e.comm, sep = ",") the name is print, args has the value of e.comm, and
// kwargs one pair, of sep and ",".
type call struct {
	// thread is the interpreter that calls, which knows the place of the call.
	thread *starlark.Thread
	// name is the one that the script uses, for messages.
	name string
	// args are the arguments by position.
	args starlark.Tuple
	// kwargs are those by name, as pairs of a name and a value, in the order of the call.
	kwargs []starlark.Tuple
}

// unpack is starlark.UnpackArgs for the call.
func (c *call) unpack(pairs ...any) error {
	err := starlark.UnpackArgs(c.name, c.args, c.kwargs, pairs...)
	if err != nil {
		return c.argumentHint(err, pairs)
	}
	return nil
}

// foreignArguments are words that one may try for arguments, with ours.
var foreignArguments = map[string][]string{
	"filter": {"where"}, "predicate": {"where"}, "when": {"where"}, "cond": {"where"}, "condition": {"where"},
	"pred":     {"where"},
	"callback": {"handler"}, "fn": {"handler"}, "func": {"handler"}, "function": {"handler"}, "action": {"handler"},
	"user": {"handler"}, "on_event": {"handler"},
	"bpf": {"kernel"}, "on_start": {"start"}, "enter": {"start"}, "entry": {"start"},
	"key": {"by", "key"}, "keys": {"by"}, "columns": {"by"}, "group_by": {"by"}, "max": {"size", "top"},
	"limit": {"size", "top"}, "max_entries": {"size"}, "entries": {"size"},
	"n": {"top"}, "count": {"top"}, "description": {"help"}, "doc": {"help"}, "typ": {"type"}, "kind": {"type"},
	"bits": {"sub"}, "buckets": {"sub"},
	"min": {"lo"}, "low": {"lo"}, "high": {"hi"}, "width": {"step"}, "str": {"string"}, "strlen": {"string"},
	"str_max": {"string"},
}

// argumentHint adds our word to what is said of an argument that is none.
func (c *call) argumentHint(err error, pairs []any) error {
	if text, is := strings.CutSuffix(err.Error(), "want callable"); is {
		return fmt.Errorf("%swant a function: lambda: …", text)
	}
	for _, kw := range c.kwargs {
		if !strings.HasSuffix(err.Error(), "unexpected keyword argument "+kw[0].String()) {
			continue
		}
		for _, ours := range foreignArguments[string(kw[0].(starlark.String))] {
			for i := 0; i < len(pairs); i += 2 {
				if strings.Trim(pairs[i].(string), "?") == ours {
					return fmt.Errorf("%w (did you mean %s?)", err, ours)
				}
			}
		}
	}
	return err
}

// pos is where the script made the call.
func (c *call) pos() plan.Pos {
	if c.thread.CallStackDepth() < 2 {
		return plan.Pos{}
	}
	return c.thread.CallFrame(1).Pos
}

// word is an int of either sign in 64 bits.
func (c *call) word(n starlark.Int) (uint64, error) {
	if i, ok := n.Int64(); ok {
		return uint64(i), nil
	}
	if v, ok := n.Uint64(); ok {
		return v, nil
	}
	return 0, fmt.Errorf("%s: %s does not fit in 64 bits", c.name, n)
}
