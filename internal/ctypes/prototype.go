package ctypes

import "strings"

// Declarations of functions of C.

// A Prototype says how a function is called, in the words of C: nobody looks up what its types are.
type Prototype struct {
	// Name is that of the function, and Result the type of what it returns; "void": nothing.
	Name, Result string
	// Params are its parameters, and More says that others follow, as of printf.
	Params []Spelled
	More   bool
}

// A Spelled is a name and its type as C spells it, without const and the like.
type Spelled struct {
	// Name is the name, and Type its type, as "char *"; a pointer to any function is FunctionPointer.
	Name, Type string
}

// FunctionPointer is the type of pointers to functions.
const FunctionPointer = "function *"

// Prototypes reads the declarations of functions, as `int open(const char *pathname, int flags, ...);`.
func Prototypes(text string) (out []Prototype, err error) {
	p := &parser{}
	p.attempt(text, func() { out = append(out, p.prototype()) })
	if p.err != nil {
		return nil, p.err
	}
	return out, nil
}

func (p *parser) prototype() Prototype {
	of := p.spelled()
	out := Prototype{Name: of.Name, Result: of.Type}
	p.want("(", "behind the name of the function")
	p.acceptVoid()
	for !p.accept(")") {
		if p.accept("...") {
			out.More = true
		} else {
			out.Params = append(out.Params, p.spelled())
		}
		if p.peek().text != ")" {
			p.want(",", "or ) behind the parameter")
		}
	}
	p.want(";", "behind the prototype")
	return out
}

// acceptVoid goes behind the void that says that there are no parameters.
func (p *parser) acceptVoid() {
	if p.peek().text == "void" && p.list[1].text == ")" {
		p.next()
	}
}

// spelled is a type and the name behind it: `const char *name`, `unsigned int n`, `void (*call)(int)`.
func (p *parser) spelled() Spelled {
	var ignored attributes
	p.attributes(&ignored)
	var words []string
	for p.peek().word() {
		words = append(words, p.next().text)
		p.attributes(&ignored)
	}
	stars := ""
	for p.accept("*") {
		stars += "*"
		p.attributes(&ignored)
	}
	switch {
	case p.peek().text == "(" && p.list[1].text == "*":
		p.next()
		p.next()
		name := p.next().text
		p.want(")", "behind the name")
		p.want("(", "before the parameters")
		p.skipInner(noEnd)
		return Spelled{name, FunctionPointer}
	case len(words) > 0 && stars != "" && p.peek().word():
		return Spelled{p.next().text, strings.Join(words, " ") + " " + stars}
	case stars == "" && len(words) > 1:
		return Spelled{words[len(words)-1], strings.Join(words[:len(words)-1], " ")}
	}
	p.peek().fail("got %s, want a type and a name", p.peek().describe())
	return Spelled{}
}
