package builtins

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/startrace/startrace/starlark/value"
)

// The modules json and math: encode, decode and indent, and how deep brackets are nested (`maxNesting`).

var moduleFamily = []Entry{
	{
		Name: "json", Family: "modules",
		Signature: "json.encode(v), json.decode(s), json.indent(s)",
		Doc: "Reads and writes JSON. Records become objects, bytes become lists of ints, and FAULT becomes " +
			"{\"fault\":true}, as with --format json. A string that was cut has `…` at its end, as in all output. " +
			"The fields of a record and the keys of a dict are sorted, where show() and --format json keep their " +
			"order.",
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
// people see of it.
var jsonModule = func() *starlarkstruct.Module {
	members := maps.Clone(json.Module.Members)
	encode := validEncode(members["encode"])
	writers := map[string]starlark.Value{"encode": encode, "indent": members["indent"],
		"encode_indent": encodeIndent(encode, members["indent"])}
	for name, f := range writers {
		members[name] = jsonWriter(name, f)
	}
	members["decode"] = jsonReader(members["decode"])
	return &starlarkstruct.Module{Name: json.Module.Name, Members: members}
}()

// validEncode is json.encode of the interpreter, with DEL as "\u007f": the interpreter writes it as Go does in a text
// of ASCII, "\x7f", and as it is in another.
func validEncode(encode starlark.Value) starlark.Value {
	return starlark.NewBuiltin("json.encode", func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := starlark.Call(th, encode, args, kwargs)
		s, ok := v.(starlark.String)
		if !ok || !strings.Contains(string(s), `\x`) && !strings.Contains(string(s), "\x7f") {
			return v, err
		}
		var out strings.Builder
		for text := string(s); text != ""; {
			before, escaped, found := strings.Cut(text, `\`)
			out.WriteString(before)
			if !found {
				break
			}
			if hex, is := strings.CutPrefix(escaped, "x"); is {
				out.WriteString(`\u00`)
				text = hex
				continue
			}
			out.WriteString(`\` + escaped[:1])
			text = escaped[1:]
		}
		return starlark.String(strings.ReplaceAll(out.String(), "\x7f", `\u007f`)), nil
	})
}

// encodeIndent is json.encode_indent by the other two.
func encodeIndent(encode, indent starlark.Value) starlark.Value {
	return starlark.NewBuiltin("json.encode_indent", func(th *starlark.Thread, _ *starlark.Builtin,
		args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) != 1 {
			return nil, fmt.Errorf("json.encode_indent: got %d arguments, want 1", len(args))
		}
		text, err := starlark.Call(th, encode, args, nil)
		if err != nil {
			return nil, err
		}
		return starlark.Call(th, indent, starlark.Tuple{text}, kwargs)
	})
}

// maxNesting bounds how deep the brackets of JSON are nested: the interpreter's reader calls itself for each.
const maxNesting = 10_000

// jsonReader is json.decode.
func jsonReader(f starlark.Value) *starlark.Builtin {
	return starlark.NewBuiltin("json.decode", func(th *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) > 0 {
			s, _ := starlark.AsString(args[0])
			if nesting(s) > maxNesting {
				return nil, fmt.Errorf("json.decode: brackets are nested more than %d deep", maxNesting)
			}
			if err := value.CheckRoom(th, decodedSize(s)); err != nil {
				return nil, fmt.Errorf("json.decode: %w", err)
			}
		}
		return starlark.Call(th, f, args, kwargs)
	})
}

// decodedSize is about how many bytes the values of a text of JSON take, of which each but the first stands behind a
// bracket, a comma or a colon: in a list, or in a dict, which takes more.
func decodedSize(s string) uint64 {
	const inList, inDict = 60, 200
	lists, commas, dicts := strings.Count(s, "["), strings.Count(s, ","), strings.Count(s, ":")
	return uint64(len(s)) + inList*uint64(lists+commas) + inDict*uint64(dicts)
}

// nesting is how deep the brackets of a text of JSON are nested, those within its strings aside.
func nesting(s string) (deepest int) {
	depth := 0
	for c := range punctuation(s) {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth--
		}
	}
	return deepest
}

// punctuation are the brackets and commas of a text of JSON, those within its strings aside.
func punctuation(s string) iter.Seq[byte] {
	return func(yield func(byte) bool) {
		quoted := false
		for i := 0; i < len(s); i++ {
			switch c := s[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case quoted:
			case strings.IndexByte("[]{},", c) >= 0 && !yield(c):
				return
			}
		}
	}
}

// checkJSON refuses to write JSON for which there is no room.
func checkJSON(th *starlark.Thread, name string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	if name == "encode" {
		return value.CheckJSONOf(th, 0, 0, args...)
	}
	words := map[string]string{"prefix": "", "indent": "\t"}
	for _, kv := range kwargs {
		key, _ := starlark.AsString(kv[0])
		words[key], _ = starlark.AsString(kv[1])
	}
	line, by := uint64(1+len(words["prefix"])), uint64(len(words["indent"]))
	if name == "encode_indent" {
		return value.CheckJSONOf(th, line, by, args...)
	}
	var text string
	if len(args) > 0 {
		text, _ = starlark.AsString(args[0])
	}
	return value.TextRoom(th, indented(text, line, by))
}

// indented is about how long a text of JSON is with line feeds, at each of which so many bytes are put, and by for each
// bracket around it.
func indented(text string, line, by uint64) uint64 {
	n, depth := uint64(len(text)), uint64(0)
	for c := range punctuation(text) {
		switch n += line + depth*by; c {
		case '[', '{':
			depth++
		case ']', '}':
			depth -= min(depth, 1)
		}
	}
	return n
}

// jsonWriter is a function that writes JSON. The line feeds that it sets are the script's,
// if what it sets them by is: within strings JSON has none.
func jsonWriter(name string, f starlark.Value) *starlark.Builtin {
	return starlark.NewBuiltin("json."+name, func(th *starlark.Thread, _ *starlark.Builtin,
		args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := checkJSON(th, name, args, kwargs); err != nil {
			return nil, err
		}
		texts := slices.Clone(args)
		var by []string
		for i, v := range args {
			var err error
			if texts[i], err = value.Texts(v); name == "indent" {
				texts[i] = v
			} else if err != nil {
				return nil, err
			}
		}
		for _, kv := range kwargs {
			s, _ := starlark.AsString(kv[1])
			by = append(by, s)
		}
		v, err := starlark.Call(th, f, texts, kwargs)
		if s, ok := v.(starlark.String); ok && name != "encode" {
			return value.OwnAs(string(s), by...), err
		}
		return v, err
	})
}
