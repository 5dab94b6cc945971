package command

import (
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/render"
	"github.com/startrace/startrace/internal/session"
)

// List shows the points that match each pattern, and the kernel's types. No
// pattern shows the kinds of points.
func List(o session.Options) (exit int, err error) {
	return session.Looking(o, func(l *session.Look) (exit int, err error) {
		format, err := l.Open()
		if err != nil {
			return session.Failed, err
		}
		if format != render.Text && format != render.JSON {
			return session.Failed, mistake.Usagef("--format %s: list prints text or json", format)
		}
		exit = session.Done
		for _, pattern := range listPatterns(o.Args) {
			found, err := l.List(pattern)
			if err != nil {
				return session.Failed, err
			}
			if !found {
				exit = session.Failed
			}
		}
		return exit, nil
	})
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
