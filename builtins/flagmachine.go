package builtins

import (
	"strings"

	"go.starlark.net/starlark"
)

// Types of flags that name something of the machine: fstype and diskname.

// machineFamily has types of flags whose values name something of the machine.
// What is misspelt would match nothing, and a tool that shows nothing looks as
// if nothing happened.
var machineFamily = []Entry{
	{
		Name: "fstype", Family: "flags",
		Signature: `fstype("ext4")`,
		Doc: `The type of a flag that names a type of file systems: flag("fs", "", type = fstype). A message tells
of a type that the kernel does not know, or not yet. The call gives the text.`,
		call: func(e *Env, c *call) (starlark.Value, error) {
			return e.named(c, Outside.FileSystem)
		},
	},
	{
		Name: "diskname", Family: "flags",
		Signature: `diskname("sda")`,
		Doc: `The type of a flag that names a disk, as dev_name has it, or as /dev/sda: flag("disk", "", type =
diskname). A partition is refused: its requests are those of its disk. A message tells of a disk that is not there, or
not yet. The call gives the name.`,
		call: func(e *Env, c *call) (starlark.Value, error) { return e.named(c, Outside.Disk) },
	},
}

// named asks the machine whether it knows a name. A flag that was not given names nothing, and is not asked for.
func (e *Env) named(c *call, ask func(Outside, string) error) (starlark.Value, error) {
	var name string
	if err := c.unpack("name", &name); err != nil {
		return nil, err
	}
	name = strings.TrimPrefix(name, "/dev/")
	if name == "" || e.Outside == nil || e.Muted {
		return starlark.String(name), nil
	}
	return starlark.String(name), ask(e.Outside, name)
}
