package builtins

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// kernelFamily has the builtins that only kernel halves know. In a handler
// they stand on parts of the event, and the compiler has replaced those; what
// reaches these functions stood on something else.
var kernelFamily = []Entry{
	kernelEntry("cstr", "cstr(address, n=0)", "The string at an address, of at most n bytes."),
	kernelEntry("mem", "mem(address, n)",
		"The n bytes at an address; n is a constant, at most 4096. An element, b[0], is an int."),
	kernelEntry("path", "path(file)", "The whole path of a struct file, path or dentry."),
	kernelEntry("cast", `cast("struct sock", address)`, `A pointer of another type. With a type of ints it is C's conversion:
cast("unsigned char", n) is the low 8 bits of n.`),
	kernelEntry("container_of", `container_of(pointer, "struct sock", "member")`, "The struct around a member."),
	kernelEntry("sizeof", `sizeof("struct sock")`, "The size of a type of the kernel."),
}

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
	return nil, fmt.Errorf("%s works on parts of an event (e.args…) and in kernel functions; here it got a value of user space", c.name)
}
