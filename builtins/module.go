package builtins

import (
	"maps"

	"go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/startrace/startrace/starlark/value"
)

var moduleFamily = []Entry{
	{
		Name: "json", Family: "modules",
		Signature: "json.encode(v), json.decode(s), json.indent(s)",
		Doc: "Reads and writes JSON. Records become objects, bytes become lists of ints, and FAULT becomes " +
			"{\"fault\":true}, as with --format json. A string that was cut has `…` at its end, as in all output.",
		value: jsonModule,
	},
	{
		Name: "math", Family: "modules",
		Signature: "math.sqrt(x), math.log(x), …",
		Doc:       "Functions of floats.",
		value:     math.Module,
	},
}

// jsonModule is the interpreter's, which writes of a string that was cut what
// people see of it. What is read from JSON is data as what was traced is: its line
// feeds are not the script's.
var jsonModule = func() *starlarkstruct.Module {
	members := maps.Clone(json.Module.Members)
	encode := members["encode"]
	members["encode"] = starlark.NewBuiltin("json.encode", func(th *starlark.Thread, _ *starlark.Builtin,
		args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		texts := make(starlark.Tuple, len(args))
		for i, v := range args {
			var err error
			if texts[i], err = value.Texts(v); err != nil {
				return nil, err
			}
		}
		return starlark.Call(th, encode, texts, kwargs)
	})
	decode := members["decode"]
	members["decode"] = starlark.NewBuiltin("json.decode", func(th *starlark.Thread, _ *starlark.Builtin,
		args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := starlark.Call(th, decode, args, kwargs)
		if err != nil {
			return nil, err
		}
		return value.Foreign(v)
	})
	return &starlarkstruct.Module{Name: json.Module.Name, Members: members}
}()
