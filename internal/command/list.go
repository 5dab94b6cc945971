package command

import (
	"errors"

	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/internal/session"
)

// `startrace list`: its patterns, and where it is printed.

// List shows the points that match each pattern, and the kernel's types. No
// pattern shows the kinds of points.
func List(o session.Options) (exit int, err error) {
	defer session.Guard(&o, &exit, &err)
	m := machine.Open()
	defer m.Close() // what it has read
	out := output.New(o.Stdout)
	if err := listInto(out, m, &o); err != nil {
		return session.Failed, err
	}
	exit = session.Done
	messages := &output.Messages{W: o.Stderr, Quiet: o.Quiet, Verbose: o.Verbose}
	for _, pattern := range listPatterns(o.Args) {
		found, err := m.List(out, pattern, o.Verbose, messages)
		out.Flush()
		if err != nil {
			return session.Failed, mistake.Tidy(err)
		}
		if !found {
			exit = session.Failed
		}
	}
	return exit, errors.Join(out.Err(), out.Close())
}

// listInto opens the output, and says whose files count.
func listInto(out *output.Output, m *machine.Machine, o *session.Options) error {
	if err := out.SetFormat(o.Format); err != nil {
		return err
	}
	if f := out.Format(); f != render.Text && f != render.JSON {
		return mistake.Usagef("--format %s: list prints text or json", f)
	}
	if len(o.PIDs) > 1 {
		return mistake.Usagef("-p: files are looked for as one process sees them; give one")
	}
	if len(o.PIDs) > 0 {
		m.Trace(o.PIDs[0], "")
	}
	return out.Open(o.Output)
}

// listPatterns are the arguments; `struct NAME` may be two of them, and none
// asks for the kinds.
func listPatterns(args []string) (out []string) {
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "struct", "union", "enum", "typedef":
			if i+1 < len(args) {
				out = append(out, args[i]+" "+args[i+1])
				i++
				continue
			}
		}
		out = append(out, args[i])
	}
	if len(args) == 0 {
		out = []string{""}
	}
	return out
}
