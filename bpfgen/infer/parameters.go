package infer

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/startrace/startrace/bpfgen/refusal"
	"github.com/startrace/startrace/internal/plan"
)

// The parameters of builtins and methods (`builtinParameters`), and what is wrong in a call that gives others, too many
// or too few: `has no parameter`.

// Parameters are what a builtin or a method takes.
type parameters struct {
	// name is the one by which it is called.
	name string
	// list are its parameters in their order, without those behind a star.
	list []string
	// least is how many of them must be given: the first ones.
	least int
	// rest is the parameter with a star, as it is written, which takes any number by position; "" where there is none.
	rest string
	// anyName is that names may be any, and unnamed that parameters have none.
	anyName, unnamed bool
	// onlyNamed is how many of the list are given by their names only: the last ones.
	onlyNamed int
}

// builtinParameters are the parameters of builtins as Python writes them, with = behind those that may be left out.
// Those before a / have no names, and those behind a star are given by their names. Of what is not here the compiler
// checks arguments elsewhere, or cannot know them.
var builtinParameters = map[plan.Builtin]string{
	"abs": "x, /", "bool": "x=, /", "int": "x, base=", "len": "x, /", "range": "start, stop=, step=, /",
	"min": "*values, key=", "max": "*values, key=", "sum": "values, start=",
	"ntohs": "n", "ntohl": "n", "int32": "n", "uint32": "n",
	"hasattr": "x, name, /", "getattr": "x, name, default=, /", "type": "x, /", "dir": "x, /",
	"cstr": "address, n=", "mem": "address, n", "path": "file",

	"errno": "n", "signal": "n", "syscall_name": "n", "dev_name": "dev", "ksym": "addr", "usym": "addr, pid=",
	"names": "v, family=", "inet": "addr", "mac": "addr", "strftime": "format, time=", "matches": "text, pattern",

	"str": "x, /", "repr": "x, /", "chr": "i, /", "ord": "s, /", "bytes": "x, /", "float": "x=, /", "hash": "s, /",
	"sprintf": "format, *values, /", "tuple": "x=, /", "list": "x=, /", "dict": "pairs=, /, **", "set": "x=, /",
	"sorted": "iterable, key=, reverse=", "reversed": "x, /", "enumerate": "x, start=, /", "zip": "*lists, /",
	"any": "x, /", "all": "x, /",

	"print": "*values, sep=", "printf": "format, *values, /", "announce": "text", "fail": "*values, sep=",
	"show":       "value, top=, sort=, percent=, screen=",
	"write_file": "name, text", "append_file": "name, text", "run": "argv, timeout=",
	"send_signal": "signal", "proc": "pid", "exit": "code=", "duration": "text", "now": "",
	"every": "interval, fn", "after": "delay, fn", "at_exit": "fn",
}

// Methods of strings take their arguments without names.
const (
	searches = "text, start=, end=, /"
	splits   = "sep=, maxsplit=, /"
	noneOf   = ""
)

// methodParameters are those of methods, by the types that have them, in the same way. Those of
// aggregations are in aggregationParameters.
var methodParameters = map[string]map[string]string{
	"string": {
		"capitalize": noneOf, "codepoint_ords": noneOf, "codepoints": noneOf, "elem_ords": noneOf, "elems": noneOf,
		"isalnum": noneOf, "isalpha": noneOf, "isdigit": noneOf, "islower": noneOf, "isspace": noneOf,
		"istitle": noneOf, "isupper": noneOf, "lower": noneOf, "title": noneOf, "upper": noneOf,
		"count": searches, "endswith": searches, "find": searches, "index": searches, "rfind": searches,
		"rindex": searches, "startswith": searches,
		"format": "*values, /, **", "join": "list, /", "partition": "sep, /", "rpartition": "sep, /",
		"lstrip": "characters=, /", "rstrip": "characters=, /", "strip": "characters=, /",
		"removeprefix": "prefix, /", "removesuffix": "suffix, /", "replace": "old, new, count=, /",
		"rsplit": splits, "split": splits, "splitlines": "keepends=, /",
	},
	"bytes": {"elems": noneOf},
	"list": {
		"append": "x, /", "clear": noneOf, "extend": "list, /", "index": "x, start=, end=, /", "insert": "i, x, /",
		"pop": "i=, /", "remove": "x, /",
	},
	"dict": {
		"clear": noneOf, "get": "key, default=, /", "items": noneOf, "keys": noneOf, "pop": "key, default=, /",
		"popitem": noneOf, "setdefault": "key, default=, /", "update": "pairs=, /, **", "values": noneOf,
	},
	"stack": {"folded": noneOf, "merged": noneOf},
	"table": {
		"add": "key, value=", "clear": noneOf, "get": "key, default=", "items": noneOf, "keys": noneOf,
		"pop": "key, default=", "remove": "key", "set": "key, value", "values": noneOf,
	},
	"cell": {"add": "value=", "get": noneOf, "set": "value"},
}

// aggregationParameters are those of the methods of aggregations and of their entries. A count is added to by another
// name.
var aggregationParameters = map[string]string{
	"add": "value, weight=", "clear": noneOf, "get": "key, default=", "items": noneOf, "quantile": "q", "take": noneOf,
}

// parametersIn reads parameters.
func parametersIn(name, list string) *parameters {
	p := &parameters{name: name}
	for one := range strings.SplitSeq(list, ", ") {
		of, left := strings.CutSuffix(one, "=")
		switch {
		case one == "":
		case one == "/":
			p.unnamed = true
		case one == "**":
			p.anyName = true
		case strings.HasPrefix(one, "*"):
			p.rest = one
		default:
			p.list = append(p.list, of)
			if !left {
				p.least++
			}
			if p.rest != "" {
				p.onlyNamed++
			}
		}
	}
	return p
}

// form is the call for messages.
func (p *parameters) form() string {
	list := slices.Clone(p.list)
	if p.rest != "" {
		list = slices.Insert(list, len(list)-p.onlyNamed, p.rest)
	}
	return p.name + "(" + strings.Join(list, ", ") + ")"
}

// wrongIn says what is wrong in a call, and where, "" where nothing is. What stars give is not known.
func (p *parameters) wrongIn(x *syntax.CallExpr) (syntax.Position, string) {
	if starred(x.Args) {
		return p.wrongName(x)
	}
	given, byPlace := map[string]bool{}, 0
	places := p.list[:len(p.list)-p.onlyNamed]
	for i, name := range namesGiven(x) {
		if name == "" {
			if byPlace < len(places) {
				given[places[byPlace]] = true
			}
			byPlace++
			continue
		}
		if given[name] && !p.unnamed {
			return start(x.Args[i]), p.form() + " got " + name + " twice"
		}
		given[name] = !p.unnamed
	}
	if at, msg := p.wrongName(x); msg != "" {
		return at, msg
	}
	if byPlace > len(places) && p.rest == "" || len(x.Args) < p.least {
		return x.Lparen, p.form() + " got " + counted(len(x.Args), "argument")
	}
	for _, one := range p.list[:p.least] {
		if !given[one] {
			return x.Lparen, p.form() + " wants " + one
		}
	}
	return syntax.Position{}, ""
}

// wrongName says which name of an argument is none of the parameters.
func (p *parameters) wrongName(x *syntax.CallExpr) (syntax.Position, string) {
	for i, name := range namesGiven(x) {
		switch {
		case name == "" || p.anyName || !p.unnamed && slices.Contains(p.list, name):
		case p.unnamed || len(p.list) == 0:
			return start(x.Args[i]), p.form() + " takes no named arguments"
		default:
			return start(x.Args[i]), p.form() + " has no parameter " + name + p.near(name)
		}
	}
	return syntax.Position{}, ""
}

// near is what a wrong name of an argument was perhaps meant to be. Python's print has an end.
func (p *parameters) near(name string) string {
	if p.name == "print" && name == "end" {
		return `: printf("%s", x) prints no line feed of its own`
	}
	return refusal.Near(name, p.list)
}

// checkBuiltinArguments refuses a call of a builtin with arguments that it does not take, at any point.
func checkBuiltinArguments(name plan.Builtin, x *syntax.CallExpr) {
	if list, known := builtinParameters[name]; known {
		if at, msg := parametersIn(string(name), list).wrongIn(x); msg != "" {
			wrong(at, "%s", msg)
		}
	}
}
