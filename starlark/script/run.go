package script

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/startrace/startrace/builtins"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/plan"
	"github.com/startrace/startrace/starlark/value"
)

// New, Run and Plan: a script is read, run, main() called; --help of it.

// New makes a host.
func New(o Options) *Host {
	h := &Host{
		opts:    o,
		env:     builtins.New(o.Runtime),
		files:   make(map[string]*file),
		read:    make(map[string]string),
		modules: make(map[string]*module),
	}
	h.env.CallAt, h.env.TextOf, h.env.Asks = h.callAt, h.files.textOf, h.files.asks
	h.env.Loading = func() bool { return len(h.loading) > 0 }
	h.env.Escape = o.Escape
	h.env.Expression = h.expression
	maps.Copy(h.env.Labels.Ints, o.Labels)
	h.env.Enum, h.env.Number, h.env.SizeOf, h.env.UserSymbol = o.Enum, o.Number, o.SizeOf, o.UserSymbol
	h.env.ConstantsOf = o.ConstantsOf
	h.predeclared = h.env.Predeclared()
	h.predeclared[getattr.Name()], h.predeclared[fail.Name()] = getattr, fail
	h.predeclared[plan.UpdateBuiltin] = starlark.NewBuiltin(plan.UpdateBuiltin, update)
	maps.Copy(h.predeclared, instruments)
	for _, name := range onBytes {
		h.predeclared[name] = value.OnBytes(name)
	}
	for _, name := range takeAll {
		f, ok := h.predeclared[name]
		switch {
		case name == "sorted":
			f = starlark.NewBuiltin(name, value.Sorted)
		case !ok:
			f = starlark.Universe[name]
		}
		h.predeclared[name] = boundedBuiltin(f.(*starlark.Builtin))
	}
	for _, name := range makesNested {
		h.predeclared[name] = checkingNested(h.predeclared[name].(*starlark.Builtin))
	}
	h.thread = &starlark.Thread{Name: "script", Load: h.load}
	h.going = newGoing(h.thread)
	h.env.Wait = h.going.wait
	value.SetRoom(h.thread, o.Room)
	value.SetGoing(h.thread, h.going.stopped)
	tellCuts(h.thread, o.Warn)
	h.env.Full.Where = h.where
	h.captures = newCaptures(h)
	h.special = newSpecialiser(h)
	return h
}

// ParseFile reads and parses the script, so that Flags can be asked before
// the command reads its own flags. RunFile does it by itself.
func (h *Host) ParseFile(path string) error {
	name := escape.Line(path) // it is in all places of messages, of which it would else make lines
	h.read[name] = path
	src, err := readSource(path, func() {
		if h.opts.Waits != nil {
			h.opts.Waits(syntax.MakePosition(&path, 0, 0), "it is a pipe that nobody writes yet, and is waited for")
		}
	})
	if err != nil {
		return err
	}
	return h.parseMain(name, src)
}

// ParseStd parses a tool of the standard library.
func (h *Host) ParseStd(name string) error {
	src, err := fs.ReadFile(h.opts.Std, name)
	if err != nil {
		return err
	}
	return h.parseMain(stdPrefix+name, src)
}

// ParseCode parses the chunks of -e: the lines of one script.
func (h *Host) ParseCode(chunks []string) error {
	return h.parseMain("-e", []byte(strings.Join(chunks, "\n")+"\n"))
}

// ParseText parses a script that has been read already.
func (h *Host) ParseText(name string, src []byte) error { return h.parseMain(name, src) }

func (h *Host) parseMain(name string, src []byte) error {
	h.name, h.text = name, string(src)
	f, err := h.parse(name, src)
	if err != nil {
		return err
	}
	h.main = f
	h.env.Flags.Words = h.flagWords(f)
	return nil
}

// RunFile parses and runs a script with its arguments.
func (h *Host) RunFile(path string, args []string) error {
	if err := h.ParseFile(path); err != nil {
		return err
	}
	return h.Run(args)
}

// RunCode runs the chunks of -e.
func (h *Host) RunCode(chunks []string, args []string) error {
	if err := h.ParseCode(chunks); err != nil {
		return err
	}
	return h.Run(args)
}

// Run runs the parsed script: its top level, then main() if it has one. An
// exit() of the script gives *builtins.ExitError, --help *HelpError, a mistake
// in the arguments *builtins.UsageError, mistakes in the script Errors.
func (h *Host) Run(args []string) error {
	h.env.Flags.Args = args
	h.env.Muted = h.env.Flags.HelpWanted()
	err := h.runMain()
	var exit *builtins.ExitError
	if h.env.Muted && (err == nil || errors.As(err, &exit)) {
		return &HelpError{h.env.Flags.Help(h.command(), h.main.doc())}
	}
	if err != nil {
		return h.env.Flags.Blame(h.explain(err))
	}
	return h.env.Flags.Check()
}

func (h *Host) command() string {
	if h.opts.Command != "" {
		return h.opts.Command
	}
	name := h.main.name
	if tool, ok := strings.CutPrefix(name, stdPrefix); ok {
		name = strings.TrimSuffix(path.Base(tool), ".star")
	}
	return "startrace " + escape.Line(name)
}

func (h *Host) runMain() error {
	globals, err := h.exec(h.main)
	h.globals = globals
	if err != nil {
		return err
	}
	fn, ok := globals["main"].(*starlark.Function)
	if !ok {
		return nil
	}
	if fn.NumParams() > 0 && fn.ParamDefault(0) == nil && !fn.HasVarargs() && !fn.HasKwargs() {
		return Errors{{Pos: fn.Position(),
			Msg: "main is called without arguments: what a user gives the script is flag(\"name\", default, \"help\")"}}
	}
	_, err = starlark.Call(h.thread, fn, nil, nil)
	return err
}

// exec resolves, compiles and runs a file. Its globals stay mutable.
func (h *Host) exec(f *file) (starlark.StringDict, error) {
	env := make(starlark.StringDict)
	known := func(name string) bool {
		v, ok := h.lookup(name)
		if ok {
			env[name] = v
		}
		return ok
	}
	restore := instrument(f.tree)
	names := newNameCheck(known)
	prog, err := starlark.FileProgram(f.tree, names.has)
	restore()
	if err = names.errors(f.tree, err); err != nil {
		return nil, h.conceal(f.name, f.resolveErrors(err, h.names()))
	}
	if found := f.unassigned(); len(found) > 0 {
		return nil, h.conceal(f.name, found)
	}
	h.warnRedefined(f)
	if f == h.main { // what a loaded file has others can fill
		h.warnUnfilled(f)
	}
	return prog.Init(h.thread, env)
}

// A HelpError carries what --help prints, its Text; it is no failure.
type HelpError struct{ Text string }

func (e *HelpError) Error() string { return e.Text }

// names lists what a misspelt name could have meant.
func (h *Host) names() []string {
	var out []string
	for n := range h.predeclared {
		if n[0] != '$' {
			out = append(out, n)
		}
	}
	for n := range starlark.Universe {
		out = append(out, n)
	}
	return out
}

// lookup finds a predeclared name: a builtin, else a constant.
func (h *Host) lookup(name string) (starlark.Value, bool) {
	if v, ok := h.predeclared[name]; ok {
		return v, true
	}
	if h.survey != nil && h.survey.unknown(name) {
		return unknown{}, true
	}
	if h.opts.Constant == nil || starlark.Universe.Has(name) {
		return nil, false
	}
	n, ok := h.opts.Constant(name)
	return starlark.MakeInt64(n), ok
}

// update is the predeclared function that `x[k] op= v` was rewritten to.
func update(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	op, _ := starlark.AsString(args[2])
	return starlark.None, value.Update(args[0], args[1], op, args[3])
}

// Plan completes the plan. It is called once the script has run; later calls
// give the same plan.
func (h *Host) Plan() *plan.Plan {
	if h.made == nil {
		h.made = h.env.Plan(h.captures)
		if h.made.StrMax == 0 {
			h.made.StrMax = h.opts.StrMax
		}
		h.made.Target = h.opts.Target
		h.freezeKernel(h.made)
	}
	return h.made
}

// Call calls a callback of the script. Errors of the script come as Errors
// with a traceback.
func (h *Host) Call(fn starlark.Callable, args ...starlark.Value) (starlark.Value, error) {
	defer h.going.end(h.going.begin()) // also where startrace itself fails
	v, err := starlark.Call(h.thread, fn, args, nil)
	if err != nil {
		return nil, h.explain(err)
	}
	return v, nil
}

// where is the place in the script that is running.
func (h *Host) where() (at plan.Pos) {
	for i := range h.thread.CallStackDepth() {
		if at = h.thread.CallFrame(i).Pos; at.IsValid() && at.Line > 0 {
			break
		}
	}
	return at
}

// Handler gives the script's own handler of a probe, nil where it has none:
// what is called with e as it is, where the compiler made no user half of it.
func (h *Host) Handler(probe int) *starlark.Function { return h.env.Probes()[probe].Handler() }
