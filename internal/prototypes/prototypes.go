// Package prototypes knows how the functions of the C library are called, for machines without its debug information:
// as of a function with debug information, their arguments and results have names and types.
//
// The table is C (libc.h), which a compiler compares with the headers of the library (TestAgainstHeaders). What is
// known of a library is given in the form in which its own debug information would be, so that nobody else knows of it.
package prototypes

import (
	_ "embed"
	"strings"
)

//go:embed libc.h
var libc string

// A Prototype says how a function is called.
type Prototype struct {
	// Name is that of the function, and Result the type of what it returns; "void": nothing.
	Name, Result string
	// Params are its parameters, and More says that others follow, as of printf.
	Params []Param
	More   bool
}

// A Param is a parameter.
type Param struct {
	// Name is its name, and Type its type, as "char *".
	Name, Type string
}

// function is the type of pointers to functions.
const function = "function *"

// All are those of the table, in its order.
func All() (out []Prototype) {
	for line := range strings.Lines(libc) {
		if line = strings.TrimSuffix(strings.TrimSpace(line), ";"); line != "" {
			out = append(out, parse(line))
		}
	}
	return out
}

// parse reads one.
func parse(line string) Prototype {
	head, rest, _ := strings.Cut(line, "(")
	name, result := declared(head)
	p := Prototype{Name: name, Result: result}
	for _, text := range split(strings.TrimSuffix(rest, ")")) {
		switch {
		case text == "...":
			p.More = true
		case text == "void":
		case strings.Contains(text, "(*"):
			_, text, _ = strings.Cut(text, "(*")
			name, _, _ := strings.Cut(text, ")")
			p.Params = append(p.Params, Param{name, function})
		default:
			name, typ := declared(text)
			p.Params = append(p.Params, Param{name, typ})
		}
	}
	return p
}

// split splits at commas outside of parentheses.
func split(text string) (out []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			out, from = append(out, strings.TrimSpace(text[from:i])), i+1
		}
	}
	return append(out, strings.TrimSpace(text[from:]))
}

// declared takes a name and a type apart: "const char *name" is a char *.
func declared(text string) (name, typ string) {
	at := strings.LastIndexAny(text, " *") + 1
	name, typ = text[at:], strings.ReplaceAll(text[:at], "const ", "")
	stars := strings.Count(typ, "*")
	if typ = strings.TrimSpace(strings.ReplaceAll(typ, "*", "")); stars > 0 {
		typ += " " + strings.Repeat("*", stars)
	}
	return name, typ
}

// A number is an int or a float by its size in bytes and whether it has a sign.
type number struct {
	size   int
	signed bool
	float  bool
}

// numbers are the types of C, and named those that headers give other names: on machines of 64 bits.
var (
	numbers = map[string]number{
		"char": {1, true, false}, "int": {4, true, false}, "unsigned int": {4, false, false},
		"long": {8, true, false}, "unsigned long": {8, false, false}, "long long": {8, true, false},
		"unsigned long long": {8, false, false}, "double": {8, true, true},
	}
	named = map[string]string{
		"size_t": "unsigned long", "ssize_t": "long", "off_t": "long", "off64_t": "long", "mode_t": "unsigned int",
		"uid_t": "unsigned int", "gid_t": "unsigned int", "pid_t": "int", "useconds_t": "unsigned int",
		"clockid_t": "int", "time_t": "long", "clock_t": "long", "socklen_t": "unsigned int",
		"in_addr_t": "unsigned int", "nfds_t": "unsigned long", "uint32_t": "unsigned int", "intptr_t": "long",
		"pthread_t": "unsigned long", "pthread_key_t": "unsigned int", "nl_item": "int", "iconv_t": "void *",
	}
)
