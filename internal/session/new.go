package session

import (
	"time"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/bell"
	"github.com/startrace/startrace/internal/callback"
	"github.com/startrace/startrace/internal/changes"
	"github.com/startrace/startrace/internal/delivery"
	"github.com/startrace/startrace/internal/ending"
	"github.com/startrace/startrace/internal/escape"
	"github.com/startrace/startrace/internal/eventline"
	"github.com/startrace/startrace/internal/flags"
	"github.com/startrace/startrace/internal/loading"
	"github.com/startrace/startrace/internal/machine"
	"github.com/startrace/startrace/internal/mistake"
	"github.com/startrace/startrace/internal/openspans"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/parts"
	"github.com/startrace/startrace/internal/results"
	"github.com/startrace/startrace/internal/stacks"
	"github.com/startrace/startrace/internal/target"
	"github.com/startrace/startrace/internal/world"
	"github.com/startrace/startrace/starlark/script"
	"github.com/startrace/startrace/starlark/value"
	"github.com/startrace/startrace/stdlib"
)

// A session is made of its rooms; texts of labels that only the run knows (`Labels`), as names of addresses.

// newSession makes the session of a run. Nothing is read of the machine or loaded yet.
func newSession(o Options) *session {
	s := &session{Options: o, bell: bell.New(), clock: newWallClock(), machine: machineOf(&o),
		messages: &output.Messages{W: o.Stderr, Quiet: o.Quiet, Verbose: o.Verbose}, out: output.New(o.Stdout)}
	s.target = target.New(s.bell, s.messages, s.machine)
	s.ending = newEnding(s)
	s.signals = &signals{bell: s.bell, ending: s.ending, came: make(chan struct{}),
		declared: make(chan struct{}),
		before:   s.target.Abort, failure: s.failure, say: func(text string) { mistake.Print(o.Stderr, text) }}
	s.loaded = &loaded{frames: stacks.New(s.messages, &s.naming)}
	s.loaded.frames.Processes.Sight = s.target.Numbers().Sight
	s.loaded.frames.SetRoom(func(bytes uint64) (func(), error) { return s.budget.Enter(bytes) })
	s.calls = callback.New(s.out, s.messages)
	s.host = script.New(script.Options{
		Runtime: runtime{s}, Constant: constants(s.machine, s.messages), Warn: s.warn, Waits: warnIn(o),
		Escape: escape.Screen,
		Labels: map[string]value.LabelFunc{"ksym": s.loaded.frames.Kernel.Name, "dev_name": s.machine.Device},
		Enum:   s.machine.Enumerators, Number: s.machine.Number, UserSymbol: s.userSymbol,
		SizeOf: s.machine.SizeOf, ConstantsOf: s.machine.ConstantsOf,
		Std: stdlib.Files(), Room: s.room, MayShow: world.CallerMayRead,
	})
	s.calls.Host = s.host
	s.host.Env().Flags.Own = func() []flags.Flag { return s.ownFlags().List() }
	s.loaded.names.Label(s.host.Env())
	s.results = results.Known{Containers: s.host.Env().Containers, Keyed: s.loaded.parts.Keyed, Stacks: s.loaded.frames}
	s.makeDelivery()
	s.makeLoader()
	return s
}

// newEnding makes what bounds the end of the run.
func newEnding(s *session) *ending.Ending {
	return ending.New(ending.Hooks{
		Cancel: s.cancel, Naming: &s.naming, Say: s.sayAtTerminal, Hurry: func(d time.Duration) { s.out.Hurry(d) },
		GiveUp: func(what string) {
			if s.dialogue == nil { // who is at the prompt ends it
				s.signals.giveUp(what)
			}
		},
		Calling: func() (call uint64, waits bool) { return s.host.Calling() },
		Held:    func() time.Duration { return s.out.Waited() },
	})
}

// cancel ends the callback that runs, and what it waits for. Any goroutine may call it.
func (s *session) cancel(reason string) {
	s.naming.End()
	s.host.Cancel(reason)
}

// machineOf is the machine that o is about.
func machineOf(o *Options) *machine.Machine {
	if o.Kernel != nil {
		return machine.Of(*o.Kernel)
	}
	return machine.Open()
}

// makeDelivery makes what reads values and events of programs.
func (s *session) makeDelivery() {
	env, l := s.host.Env(), s.loaded
	decoder := &value.Decoder{Labels: env.Labels, Stacks: l.frames, Traced: env.Traced}
	l.spans = openspans.Spans{Decoder: decoder, Point: l.names.Text, FuncID: s.machine.FuncID}
	l.containers = &containers{env: env, machine: s.machine, decoder: decoder, parts: &l.parts, twins: s.Twins,
		bound: make(map[int]bool)}
	s.delivery = delivery.New(delivery.Needs{
		Parts: &l.parts, Frames: l.frames, Host: s.host, Calls: s.calls, Out: s.out, Timers: &s.timers,
		Halted: s.halted,
		Lines: &eventline.Kernel{Tracepoint: s.machine.Tracepoint, Constant: s.machine.EnumValue,
			Symbol: l.frames.Kernel.Printed},
		Event: value.NewEvent(decoder),
	})
	l.controls = &controls{host: s.host, parts: &l.parts, spans: &l.spans, delivery: s.delivery, machine: s.machine}
}

// makeLoader makes what brings plans into the kernel. Names and stacks come
// before the containers that have them, the ring before what makes programs send.
func (s *session) makeLoader() {
	l := loading.New(loading.Needs{Messages: s.messages, Machine: s.machine, Host: s.host, Target: s.target,
		Bell: s.bell, Parts: &s.loaded.parts, Frames: s.loaded.frames, Drain: s.delivery.DrainPart, Aside: s.aside,
		Unwanted: s.unwanted, Fit: func() error { return s.budget.Fit() }})
	s.cgroup, s.cpus = changes.NewCgroup(l), changes.NewCPUs(l)
	l.Binders = []func(*parts.Part) error{
		l.KeepTypes, s.loaded.names.Bind, func(p *parts.Part) error { return s.growth.Follow(p) }, s.cpus.Bind,
		s.cgroup.Bind, l.BindStacks, s.loaded.containers.bind, s.loaded.bindSpans(s.host.Env()), l.Follow,
		s.delivery.Bind, s.loaded.controls.bind, l.OpenRing,
		l.WakeByProcesses,
	}
	s.loader = l
}

// constants are those of the kernel and of its modules. Where modules have different ones of the name, that is said
// beside the message that there is none.
func constants(m *machine.Machine, messages *output.Messages) func(string) (int64, bool) {
	return func(name string) (int64, bool) {
		v, ok := m.Constant(name)
		if !ok {
			if why := m.WhyNoConstant(name); why != "" {
				messages.Sayf("startrace: %s", why)
			}
		}
		return v, ok
	}
}

// userSymbol names an address of a process, 0 for the one that is traced.
func (s *session) userSymbol(pid int, addr uint64) (string, error) {
	pid, err := s.target.Process(pid)
	if err != nil {
		return "", err
	}
	return s.loaded.frames.Processes.Name(pid, addr), nil
}

// mayGrow prepares the run for modules and files that bring points to its probes. From here on it hears of modules that
// are loaded. shared is what the parts of the prompt share, gone are the probes that the prompt has replaced.
func (s *session) mayGrow(shared loading.Common, gone map[int]bool) {
	s.growth = changes.NewGrowth(s.loader, gone)
	shared.Types.Now = !s.growth.Hears()
	s.loader.Common = shared
}

// sharing is what the parts of a run share, for a run that has several parts.
func sharing() loading.Common {
	return loading.Common{Maps: &attach.Shared{}, Types: &infer.Types{}, Room: infer.Room}
}
