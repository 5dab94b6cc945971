package script

import (
	"regexp"
	"strings"
	"sync"

	"github.com/startrace/startrace/internal/plan"
)

// Messages of the interpreter and the resolver in plain words, a row each: no while, return outside of functions,
// arguments given twice.

// A rewording replaces a message of the interpreter by one in the words of the
// product. The tables are made when there is a message: most scripts have none.
type rewording struct {
	from *regexp.Regexp
	to   string
}

func reword(table []rewording, msg string) string {
	for _, r := range table {
		if r.from.MatchString(msg) {
			return r.from.ReplaceAllString(msg, r.to)
		}
	}
	return msg
}

// plainResolve are the messages of the resolver.
var plainResolve = sync.OnceValue(func() []rewording {
	return []rewording{
		{regexp.MustCompile(`^this Starlark dialect does not support while loops$`),
			"there is no while: loops are: for i in range(10):"},
		{regexp.MustCompile(`^can't assign to callexpr$`),
			"this is a call, and a value can be assigned only to a name, x[KEY] or x.NAME"},
		{regexp.MustCompile(`^can't assign to (\w+?)(expr)?$`),
			"a value can be assigned only to a name, x[KEY] or x.NAME"},
		{regexp.MustCompile(`^return statement not within a function$`),
			"return stands in functions only; exit() ends the script"},
		{regexp.MustCompile(`^(break|continue) not in a loop$`), "$1 stands in loops only"},
		{regexp.MustCompile(`^load statement within a (\w+)$`), "load stands at the top level only, not in a $1"},
		{regexp.MustCompile(`^positional argument may not follow (named|\*\w*)$`),
			"an argument without a name follows one with a name: put it before"},
		{regexp.MustCompile(`^duplicate parameter: (.*)$`), "two parameters have the name $1"},
		{regexp.MustCompile(`^keyword argument "(.*)" is repeated$`), "the argument $1 is given twice"},
		{regexp.MustCompile(`^required parameter may not follow optional$`),
			"a parameter without a default follows one with a default: put it before"},
		{regexp.MustCompile(`^load: names with leading underscores are not exported: (.*)$`),
			"$1 cannot be loaded: names with a _ before them belong to their module"},
		{regexp.MustCompile(`^can't use (\w+) expression in augmented assignment$`),
			"several values cannot be changed at once: write an assignment for each"},
		{regexp.MustCompile(`^cannot reassign (local|global|top-level) (\S+)( declared)?( at \S+)?.*$`),
			"$2 is loaded or declared already$4: take another name"},
	}
})

// typeNames are the types of the interpreter as scripts know them.
var typeNames = strings.NewReplacer("NoneType", "None", "builtin_function_or_method", "a builtin function")

// aggregationNames are those of all aggregations and of groups, as alternatives of a pattern.
func aggregationNames() string {
	names := []string{plan.Group.String()}
	for kind := plan.ContainerKind(0); kind < plan.Group; kind++ {
		if kind.IsAggregation() {
			names = append(names, kind.String())
		}
	}
	return strings.Join(names, "|")
}

// plainRuntime are the messages of the interpreter while a script runs. That of
// < > <= >= is known by the operator: the interpreter says it of its own types and
// of two that differ, and our values say it in plain words by themselves.
var plainRuntime = sync.OnceValue(func() []rewording {
	return []rewording{
		{regexp.MustCompile(`^unhandled index operation (\S+)\[(\S+)\]$`),
			"$1 has no elements: [KEY] is for lists, dicts, tuples, strings and tables"},
		{regexp.MustCompile(`^invalid call of non-function \((\S+)\)$`),
			"$1 is called like a function, and it is none"},
		{regexp.MustCompile(`^unknown binary op: (\S+) (\S+) (\S+)$`), "$1 $2 $3: these types have no $2"},
		{regexp.MustCompile(`^unknown unary op: (\S+) (\S+)$`), "$1$2: this type has no $1"},
		{regexp.MustCompile(`^(\S+) ([<>]=?) (\S+) \w+ \w+$`), "$1 $2 $3: values of these types have no order"},
		{regexp.MustCompile(`^(\w+: \S+ [<>]=? \S+) \w+ \w+$`), "$1: values of these types have no order"},
		{regexp.MustCompile(`^unhashable( type)?: (list|dict|set)$`),
			"a $2 cannot be a key: it can change; a tuple can: (a, b)"},
		{regexp.MustCompile(`^unhashable( type)?: (.*)$`), "a $2 cannot be a key"},
		{regexp.MustCompile(`^local variable (\S+) referenced before assignment$`),
			"$1 has no value yet: a function that assigns $1 has its own, also where the top level has one"},
		{regexp.MustCompile(`^global variable (\S+) referenced before assignment$`),
			"$1 has no value yet: it is assigned further down"},
		{regexp.MustCompile(`^function (\S+) called recursively$`),
			"$1 calls itself, and Starlark has no recursion: use a loop"},
		{regexp.MustCompile(`^floored division by zero$|^floating-point division by zero$`), "division by zero"},
		{regexp.MustCompile(`^(integer|floating-point) modulo by zero$`), "division by zero (%)"},
		{regexp.MustCompile(`^too (many|few) values to unpack \(got (\d+), want (\d+)\)$`),
			"got $2 values for $3 names"},
		{regexp.MustCompile(`^got (\S+) in sequence assignment$`), "got one value ($1) for several names"},
		{regexp.MustCompile(`^(cannot .* during iteration)$`), "$1: go through a copy, list(x)"},
		{regexp.MustCompile(`^Starlark computation cancelled: (.*)$`), "$1"},
		{regexp.MustCompile(`^(?:\w+: )?cannot .* frozen hash table$`), "this dict or set cannot change any more"},
		{regexp.MustCompile(`^(?:\w+: )?cannot .* frozen list$`), "this list cannot change any more"},
		{regexp.MustCompile(`^(` + aggregationNames() + `) value does not support item assignment$`),
			"a $1 takes no x[KEY] = VALUE: x[KEY].add(VALUE)"},
		{regexp.MustCompile(`(?s)^load: name .*\W.* not found in module (\S+)( \(did.*)?$`),
			"load: the names in $1 are of letters and digits"},
		{regexp.MustCompile(`(?s)^cannot load .*\n.*: got ".*$`),
			`cannot load this: want "std/NAME.star" or "./NAME.star"`},
		{regexp.MustCompile(`(?s)^int: invalid literal with base (\d+): .*$`),
			"int: the string is no number in base $1"},
		{regexp.MustCompile(`(?s)^(?:float: )?invalid float literal: .*$`), "float: the string is no number"},
		{regexp.MustCompile(`^Starlark stack overflow$`), "functions call each other too deeply"},
		{regexp.MustCompile(`^(\w+) index (-?\d+) out of range \[-1:\d+\]$`), "index $2, and the $1 has 1 element"},
		{regexp.MustCompile(`^(\w+) index (-?\d+) out of range \[-(\d+):\d+\]$`),
			"index $2, and the $1 has $3 elements"},
		{regexp.MustCompile(`^(.*) index (-?\d+) out of range: empty (.*)$`),
			"$1 index $2 out of range: the $3 is empty"},
		{regexp.MustCompile(`^function (\S+) accepts no arguments \((\d+) given\)$`), "$1 takes no arguments, got $2"},
		{regexp.MustCompile(`^function (\S+) accepts (at most )?(\d+) positional arguments? \((\d+) given\)$`),
			"$1 takes $2$3 arguments, got $4"},
		{regexp.MustCompile(`^function (\S+) missing \d+ arguments? \((.*)\)$`), "$1 wants an argument for $2"},
		{regexp.MustCompile(`^function (\S+) got an unexpected keyword argument (\S+)(.*)$`),
			"$1 has no parameter $2$3"},
		{regexp.MustCompile(`^function (\S+) got multiple values for parameter (\S+)$`), "$1 got two values for $2"},
		{regexp.MustCompile(`^internal error: (.*)$`), "$1"},
	}
})

// plainRun is a message of the interpreter in the words of the product.
func plainRun(msg string) string { return typeNames.Replace(reword(plainRuntime(), msg)) }
