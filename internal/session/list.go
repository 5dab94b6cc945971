package session

import (
	"fmt"
	"strings"
	"sync"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/listing"
	"github.com/startrace/startrace/internal/render"
)

// List shows the points that match each pattern, and the kernel's types. No
// pattern shows the kinds of points.
func List(o Options) (exit int, err error) {
	defer guard(o, &exit, &err)
	s := newSession(o)
	defer s.close()
	if err := s.apply(); err != nil {
		return Failed, tidy(err)
	}
	if f := s.printer.Format; f != render.Text && f != render.JSON {
		return Failed, usageErrorf("--format %s: list prints text or json", s.Format)
	}
	exit = Done
	for _, pattern := range listPatterns(s.Args) {
		found, err := s.list(pattern)
		s.out.flush()
		if err != nil {
			return Failed, tidy(err)
		}
		if !found {
			exit = Failed
		}
	}
	return exit, s.out.failure()
}

const listUsage = `startrace list shows what can be probed.

usage: startrace list [-v] [-p PID] [PATTERN …]

  startrace list                             the kinds of points, how many there are, an example of each
  startrace list tracepoint                  one kind: its categories
  startrace list 'tracepoint:sched:*'        points of a kind; short names as in probe(): t:sched:*
  startrace list '*open*'                    a name in all kinds that are quick to search
  startrace list -v 'syscall:open*'          with the arguments, as scripts write them, and their types
  startrace list -v func:vfs_read            arguments and result of a function of the kernel
  startrace list 'uprobe:c:*alloc*'          functions of a library, a program or a file
  startrace list -p 77 'usdt:*:*'            static probes of all that a process has mapped
  startrace list -v 'struct task_struct'     the layout of a struct, union or enum of this kernel
  startrace list -v 'struct task_struct.mm'  a member, and what it points at
`

// PrintListHelp prints the help of List.
func PrintListHelp(o Options) {
	fmt.Fprint(o.Stdout, listUsage, "\nFlags:\n")
	printFlags(o.Stdout, o.Flags())
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

// list prints what one pattern finds.
func (s *session) list(pattern string) (found bool, err error) {
	finder := s.finder()
	src := &listing.Source{
		Facts: s.facts, Programs: finder, Words: pointWords{}, Traced: finder.Program != "",
		Verbose: s.Verbose, NoCounters: !kernel.HasCounters(), Refused: refusals(),
	}
	r, err := src.Find(pattern)
	if err != nil {
		return false, err
	}
	w := outputWriter{s.out}
	if s.printer.Format == render.JSON {
		err = r.WriteJSON(w)
	} else {
		err = r.WriteText(w, s.Verbose)
	}
	for _, problem := range r.Problems {
		s.messagef("startrace: %v", problem)
	}
	if r.Empty() && (len(r.Problems) == 0 || len(r.Hints) > 0) {
		s.messagef("startrace: nothing matches %s%s", pattern, listHint(r.Hints))
	}
	return !r.Empty(), err
}

// refusals asks the kernel's list of functions that must not be probed, which
// is read when it is first needed.
func refusals() func(name string) error {
	list := sync.OnceValue(func() *kernel.Blacklist {
		b, err := kernel.OpenBlacklist()
		if err != nil {
			return &kernel.Blacklist{} // attaching tells
		}
		return b
	})
	return func(name string) error { return list().Check(name) }
}

func listHint(hints []string) string {
	if len(hints) == 0 {
		return ""
	}
	return ": " + strings.Join(hints, " ")
}

// pointWords reads patterns as probe() does.
type pointWords struct{}

func (pointWords) Kind(word string) (string, bool)    { return builtins.Provider(word) }
func (pointWords) Unknown(pattern, word string) error { return builtins.UnknownProvider(pattern, word) }
func (pointWords) Fields(text string, n int) []string { return builtins.SplitFields(text, n) }
