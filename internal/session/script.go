package session

import (
	"bytes"
	"errors"
	"slices"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/memory"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/internal/target"
	"github.com/startrace/startrace/internal/world"
	"github.com/startrace/startrace/starlark/script"
)

// The script is read, its arguments dealt out, its top level run; messages about -f, --duration and --drain that mean
// nothing.

// prepare reads the script and deals out the arguments, so that the settings
// are known before the script prints anything.
func (s *session) prepare() (scriptArgs []string, err error) {
	if len(s.Code) == 0 && len(s.Args) == 0 {
		return nil, mistake.Usagef("no script: give a FILE, a TOOL, or code with -e")
	}
	rest := s.Args
	if len(s.Code) > 0 {
		err = s.host.ParseCode(s.Code)
	} else {
		rest = s.Args[1:]
		s.reading.Store(true)
		err = s.parseScript(s.Args[0])
		s.reading.Store(false)
	}
	if err != nil {
		err = s.allMistakes(err, nil)
		_, _ = s.takeOwn(rest) // with -c among them the exit code is another one; the script's mistake is what is told
		return nil, err
	}
	if scriptArgs, err = s.takeOwn(rest); err != nil {
		return nil, err
	}
	return scriptArgs, s.apply()
}

// apply checks the settings and opens the output.
func (s *session) apply() (err error) {
	s.messages.Quiet, s.messages.Verbose = s.Quiet, s.Verbose
	s.loader.Script, s.loader.Check = scriptName(&s.Options), s.Check
	s.out.Guard(s.Guard)
	frames := s.loaded.frames
	frames.Addresses, frames.Processes.FullNames = s.Addresses, s.Names == "full"
	frames.Processes.Lines, frames.Processes.Expand = s.Lines, s.Lines
	if err := s.out.SetFormat(s.Format); err != nil {
		return err
	}
	switch {
	case s.Command != "" && len(s.PIDs) > 0:
		return mistake.Usagef("-c and -p exclude each other")
	case s.Follow && len(s.PIDs) == 0 && s.Command == "":
		return mistake.Usagef("-f follows the children of a process: give it with -p or -c")
	case s.Duration < 0:
		return mistake.Usagef("--duration: a time is greater than 0")
	case s.Drain < 0:
		return mistake.Usagef("--drain: a time is greater than 0")
	case s.StrMax < 0 || s.StrMax > maxString:
		return mistake.Usagef("--str-max: want 1 to %d", maxString)
	}
	if slices.Contains(s.AllowWrite, "") {
		return mistake.Usagef("--allow-write: want a folder")
	}
	if err := memory.Begins(); err != nil {
		return err
	}
	s.budget = memory.New(s.Memory, func() { s.host.Cancel(tooMuchMemory) })
	s.budget.Warn(func(text string) { s.signals.giveUp("startrace: " + text) })
	s.budget.Begin()
	if s.Drain > 0 {
		s.ending.Drain(s.Drain)
	}
	if err := s.choose(); err != nil {
		return err
	}
	s.host.Env().Outside = &world.World{Granted: world.Granted{AllowWrite: s.AllowWrite, AllowRun: s.AllowRun},
		Idle: s.untraced, Traced: s.host.Env().Traced, Say: s.messages.Sayf, Sight: s.target.Numbers().Sight}
	return s.out.Open(s.Output)
}

// choose says which processes the run concerns.
func (s *session) choose() error {
	scope := target.Scope{Cgroup: s.Cgroup, Container: s.Container, User: s.User}
	var command []string
	var err error
	if s.Command != "" {
		command, err = target.Words(s.Command)
	}
	if err == nil {
		err = s.target.Choose(s.PIDs, s.Follow, command, scope)
	}
	if err != nil {
		return &mistake.Usage{Err: err}
	}
	s.machine.Trace(s.target.First(), s.target.Command())
	return nil
}

// tooMuchMemory is why a callback is ended, or the script's top level; what can be
// done about it is said at the end, with sizes, where the run goes that far.
const tooMuchMemory = "it was ended: the values of the script take too much memory (--memory says how much they may)"

// room is an error where something of so many bytes would be too much.
func (s *session) room(n uint64) error {
	if s.budget == nil {
		return nil
	}
	return s.budget.Room(n)
}

// maxString is the longest string that a record can carry (wire.RefLen).
const maxString = 8184

// runScript runs the script's top level and main(). ended is true where that
// is all that was asked: exit() was called, or --help.
func (s *session) runScript(args []string) (ended bool, err error) {
	err = s.host.Run(args)
	var exit *builtins.ExitError
	var help *script.HelpError
	var usage *builtins.UsageError
	switch {
	case err == nil:
		return false, nil
	case errors.As(err, &exit):
		return true, nil
	case errors.As(err, &help):
		s.exited = true
		var text bytes.Buffer
		s.printHelp(&text, help.Text)
		_, err = s.Stdout.Write(escape.Append(nil, text.String(), escape.Screen)) // the script's words are a stranger's
		return true, err
	case errors.As(err, &usage):
		wrong := &mistake.Usage{Err: err}
		if len(s.Code) == 0 {
			wrong.Of = escape.Line(scriptName(&s.Options))
		}
		return true, wrong
	}
	return true, s.allMistakes(err, args)
}

// scriptName is what messages call the script.
func scriptName(o *Options) string {
	switch {
	case len(o.Code) > 0:
		return "-e"
	case len(o.Args) > 0:
		return o.Args[0] // as the user named it
	}
	return "prompt" // as in the places of what was typed
}

// whole is all of the script, to be compiled as the command line says.
func (s *session) whole() *parts.Part {
	p := s.host.Plan()
	s.limitText(p)
	p.Unsafe, p.Exact = s.Unsafe, exactness(s.Exact)
	if s.Twins != nil {
		p.Placement = plan.InBoth
	}
	return &parts.Part{Plan: p}
}

// limitText bounds strings as the command line says, if the script does not.
func (s *session) limitText(p *plan.Plan) {
	if p.StrMax == 0 {
		p.StrMax = s.StrMax
	}
}

func (s *session) warn(pos plan.Pos, msg string) { s.messages.Warnf(pos, "%s", msg) }

// warnIn says warnings where messages go that a script is waited for.
func warnIn(o Options) func(plan.Pos, string) {
	w := o.Waiting
	if w == nil {
		w = o.Stderr
	}
	messages := &output.Messages{W: w}
	return func(pos plan.Pos, msg string) { messages.Warnf(pos, "%s", msg) }
}

// exactness is what --exact asks for, nil: it was not given.
func exactness(given *bool) plan.Exactness {
	switch {
	case given == nil:
		return plan.ExactCalls
	case *given:
		return plan.ExactAll
	}
	return plan.ExactNone
}
