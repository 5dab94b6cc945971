package builtins

import (
	"errors"
	"fmt"
	"strings"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// cstr(), mem(), path(), cast(), container_of(), uaddr(), sizeof(), types(), struct(): builtins of kernel halves and
// types.

// kernelFamily has the builtins that only kernel halves know. In a handler
// they stand on parts of the event, and the compiler has replaced those; what
// reaches these functions stood on something else.
var kernelFamily = []Entry{
	kernelEntry("cstr", "cstr(address, n=0)",
		"The string at an address, of at most n bytes. Of an n that is computed at the event, the bytes behind it are "+
			"not read. Without n it is of as many bytes as "+
			"`limits(string = N)` says."),
	kernelEntry("mem", "mem(address, n)",
		"The n bytes at an address, at most 4096. n may be computed at the event. An element, b[0], is an int."),
	kernelEntry("path", "path(file)",
		`The whole path of a struct file or path. For a dentry it is the path within its file system.`),
	{Name: "cast", Family: "kernel", Signature: `cast("struct sock", address)`, call: convert,
		Doc: `Gives a pointer another type. With a type of ints it is C's conversion: cast("unsigned char", n) is
the low 8 bits of n.`},
	kernelEntry("container_of", `container_of(pointer, "struct sock", "member")`, "The struct around a member."),
	kernelEntry("uaddr", `uaddr("./shop:counter")`,
		"The address of a variable or a function of a program, in the process of the event, at probes of that "+
			"program."),
	{Name: "sizeof", Family: "kernel", Signature: `sizeof("struct sock")`, call: sizeOf,
		Doc: "The size of a type of the kernel, or of one that types() has declared."},
	{Name: "types", Family: "kernel", Signature: `types("struct order { u32 id; char *name; };")`, call: declareTypes,
		Doc: "Declares types of the script in the language C, for cast, container_of and sizeof. Its value is a " +
			"record of the constants of its enums. With `provider shop { probe sold(int n, char *name); };` it says " +
			"which names and types the arguments of a static probe have."},
	{Name: "struct", Family: "kernel", Signature: `struct("id", "u32", "name", "char *")`, call: declareStruct,
		Doc: `Declares a struct of the script by the names and types of its members, or by a text in C:
struct("u32 id; char *name;"). Its value is the name of the struct, for cast, container_of and sizeof.`},
}

// declareTypes keeps the text, which is read with the types of the kernel when the probes are compiled, and where it
// has enums now. Its value is a record of the constants of these.
func declareTypes(e *Env, c *call) (starlark.Value, error) {
	var text string
	if err := c.unpack("text", &text); err != nil {
		return nil, err
	}
	declared := plan.TypesText{Text: text, Pos: c.pos()}
	if e.TextOf != nil {
		declared.Literal = e.TextOf(c.pos())
	}
	e.types = append(e.types, declared)
	if !strings.Contains(text, "enum") || e.ConstantsOf == nil {
		return starlark.None, nil
	}
	list, err := e.ConstantsOf(e.types...)
	if err != nil || len(list) == 0 {
		return starlark.None, err
	}
	names, vals := make([]string, len(list)), make([]starlark.Value, len(list))
	for i, v := range list {
		names[i], vals[i] = v.Name, starlark.MakeInt64(v.Val)
	}
	return value.NewRecord(names, vals), nil
}

// declareStruct declares a struct of the script, by the names and types of its members or by a text in C. Its value is
// the name by which cast and the other ones know it.
func declareStruct(e *Env, c *call) (starlark.Value, error) {
	words := make([]string, len(c.args))
	for i, v := range c.args {
		word, ok := starlark.AsString(v)
		if !ok {
			return nil, fmt.Errorf("struct takes names and types of members, or a text in C: got a %s as number %d",
				v.Type(), i+1)
		}
		words[i] = word
	}
	if len(c.kwargs) > 0 {
		return nil, errors.New("struct declares a type, by names and types of members; a value is record(name = value)")
	}
	if len(words) == 0 || len(words) > 1 && len(words)%2 == 1 {
		return nil, errors.New(`struct takes a name and a type for each member: struct("id", "u32", "name", "char *")`)
	}
	text := membersOf(words)
	for _, t := range e.types {
		if name, rest, ok := strings.Cut(t.Text, " {"); t.Made && ok && rest == text {
			return starlark.String(name), nil
		}
	}
	name := fmt.Sprintf("struct struct_%d", len(e.types)+1)
	e.types = append(e.types, plan.TypesText{Text: name + " {" + text, Pos: c.pos(), Made: true})
	return starlark.String(name), nil
}

// membersOf are the members of a struct as C writes them, with the end of the struct. One word is in C already.
func membersOf(words []string) string {
	if len(words) == 1 {
		return " " + strings.TrimSpace(words[0]) + " };"
	}
	var b strings.Builder
	for i := 0; i < len(words); i += 2 {
		of, name := strings.TrimSpace(words[i+1]), words[i]
		if at := strings.IndexAny(of, "[:"); at >= 0 { // char[16], u32:3
			name += of[at:]
			of = of[:at]
		}
		b.WriteString(" " + of + " " + name + ";")
	}
	return b.String() + " };"
}

// sizeOf is the size in bytes of a type that was declared before, or that the kernel has.
func sizeOf(e *Env, c *call) (starlark.Value, error) {
	if len(c.args) != 1 || len(c.kwargs) > 0 {
		return nil, errors.New(`sizeof takes the name of a type: sizeof("struct sock")`)
	}
	name, ok := starlark.AsString(c.args[0])
	if !ok || e.SizeOf == nil {
		return kernelOnly(e, c)
	}
	n, ok, err := e.SizeOf(name, e.types...)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("sizeof: neither the kernel nor a types() before has a type %s; "+
			"struct, union and enum belong to the name, and "+
			"startrace list 'struct NAME' shows those that there are", name)
	}
	return starlark.MakeInt(n), nil
}

// kernelEntry is the row of a builtin that only kernel halves can call.
func kernelEntry(name, sig, doc string) Entry {
	return Entry{Name: name, Family: "kernel", Signature: sig, Doc: doc, call: kernelOnly}
}

// kernelOnly gives FAULT of FAULT, as kernel halves do.
func kernelOnly(_ *Env, c *call) (starlark.Value, error) {
	for _, v := range c.args {
		if value.IsFault(v) {
			return v, nil
		}
	}
	for _, named := range c.kwargs {
		if value.IsFault(named[1]) {
			return named[1], nil
		}
	}
	return nil, fmt.Errorf("%s works on parts of an event (e.args…) and in kernel functions; "+
		"here it got a value of user space: call it by its name in a handler, with a part of the event", c.name)
}

// convert is C's conversion to a type of ints, also of what user space computed. Pointers are the kernel's.
func convert(e *Env, c *call) (starlark.Value, error) {
	if e.Number == nil || len(c.args) != 2 || len(c.kwargs) > 0 {
		return kernelOnly(e, c)
	}
	name, ok := starlark.AsString(c.args[0])
	t, number := e.Number(strings.TrimSpace(name), e.types...)
	if !ok || !number || value.IsFault(c.args[1]) {
		return kernelOnly(e, c)
	}
	n, err := number64(c.args[1])
	if err != nil {
		return nil, err
	}
	if t.Bool {
		return starlark.Bool(n.Sign() != 0), nil
	}
	low := lowBits(n, 8*t.Size)
	if !t.Signed {
		return starlark.MakeUint64(low), nil
	}
	unused := 64 - 8*t.Size
	return starlark.MakeInt64(int64(low<<unused) >> unused), nil
}

// number64 is the int that a conversion begins with: C's bools are 0 and 1.
func number64(v starlark.Value) (starlark.Int, error) {
	switch v := v.(type) {
	case starlark.Int:
		return v, nil
	case starlark.Bool:
		if v {
			return starlark.MakeInt(1), nil
		}
		return starlark.MakeInt(0), nil
	}
	return starlark.Int{}, fmt.Errorf("cast: got %s, want an int", v.Type())
}
