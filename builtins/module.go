package builtins

import (
	"go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
)

var moduleFamily = []Entry{
	{
		Name: "json", Family: "modules",
		Signature: "json.encode(v), json.decode(s), json.indent(s)",
		Doc:       "JSON. Records become objects.",
		value:     json.Module,
	},
	{
		Name: "math", Family: "modules",
		Signature: "math.sqrt(x), math.log(x), …",
		Doc:       "Functions of floats.",
		value:     math.Module,
	},
}
