package value

import "go.starlark.net/starlark"

// Builtins of the interpreter that take or give bytes.

// OnBytes is a builtin of the interpreter that takes or gives bytes, for ours. What has been traced need not be UTF-8:
// of that, too, bytes(s) and str(b) have the bytes as they are. A text of strings that were cut has their marks.
func OnBytes(name string) *starlark.Builtin {
	universal := starlark.Universe[name]
	return starlark.NewBuiltin(name, func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) == 1 && len(kwargs) == 0 {
			switch v := args[0].(type) {
			case starlark.String:
				if name == "bytes" {
					return Bytes(v), nil
				}
			case Bytes:
				switch name {
				case "str":
					return starlark.String(v), nil
				case "repr": // with the mark of bytes that were cut
					err := CheckTextOf(th, v)
					if err != nil {
						return nil, err
					}
					return starlark.String(v.String()), nil
				}
			}
		}
		if name == "str" || name == "repr" {
			if err := CheckTextOf(th, args...); err != nil {
				return nil, err
			}
		}
		plain := make(starlark.Tuple, len(args))
		for i, v := range args {
			plain[i] = plainBytes(v)
		}
		if name != "str" && name != "repr" {
			v, err := starlark.Call(th, universal, plain, kwargs)
			return OwnBytes(v), err
		}
		return through(func(list []starlark.Value) (starlark.Value, error) {
			return starlark.Call(th, universal, list, kwargs)
		}, plain...)
	})
}
