package kernel

import (
	"io/fs"
	"sync"
)

// Facts, what is known of one kernel, and Options, where it is read.

// Options say where facts are read; the zero value is the running kernel.
// Tests give fixtures.
type Options struct {
	BTFPath     string            // default BTFPath
	BTF         []byte            // a blob, instead of a file
	ModuleBTF   map[string][]byte // of a fixture's modules, by their names
	TracefsPath string            // default: found, mounted if need be
	Release     string            // default: that of the running kernel; of a fixture unknown
	// Format, Tracepoints and Functions are asked instead of tracefs; nil: tracefs is. See TypesOnly.
	Format      func(f *Facts, group, name string) (*Tracepoint, error)
	Tracepoints func(f *Facts, groupGlob, nameGlob string) ([]TracepointName, error)
	Functions   func(f *Facts) ([]FunctionName, error)
	// Symbols reads the kernel's symbols; nil: those of the running kernel.
	Symbols func() (*Symbols, error)
	// Blacklist reads the functions that must not be probed; nil: those of the
	// running kernel.
	Blacklist func() (*Blacklist, error)
	// BPFPrograms lists the programs that are loaded now.
	BPFPrograms func() ([]BPFProgram, error)
	// OnlyFunction reports that the kernel says it has no two functions of a
	// name; nil: it does not tell.
	OnlyFunction func(name string) bool
	// TryFunction says why the kernel does not let a function be probed; nil: nobody
	// knows before it is attached.
	TryFunction func(name string) error
	// Words reads words of 8 bytes of the kernel's memory, 0 where it cannot; nil: it
	// cannot be read.
	Words func(addrs []uint64) ([]uint64, error)
	// Features finds out what the kernel has; it is called once, if at all.
	Features func() Features
	// TryHook says why the kernel lets no program at a security hook; nil: nobody knows before it is attached.
	TryHook func(TypeID) error
	// HooksCalled says why programs at security hooks would not be called; it is asked once, if at all.
	HooksCalled func() error
	// Modules has modules.dep and modules.builtin; nil: those of the running
	// kernel.
	Modules fs.FS
	// Trampolines finds out whether it has these; it is called once, if at all.
	Trampolines func() Trampolines
}

// Facts gathers what is known about one kernel. Nothing is read before it is
// asked for, and then once; methods are safe for concurrent use.
type Facts struct {
	// opts say where facts are read.
	opts    Options
	earlier *Facts // see Again

	// btf has the types, btfErr says why they cannot be read. btfOnce reads them.
	btfOnce sync.Once
	btf     *BTF
	btfErr  error

	// modules has the types of modules, by name, as far as they were asked for. modulesMu guards it.
	modulesMu sync.Mutex
	modules   map[string]loadedModule

	// tracefs is where tracefs is mounted, tracefsErr why it is not found. tracefsOnce looks for it.
	tracefsOnce sync.Once
	tracefs     string
	tracefsErr  error

	// features are what the compiler may use. featuresOnce finds them out.
	featuresOnce sync.Once
	features     Features

	// trampolines says whether there are any. trampolinesOnce tries it.
	trampolinesOnce sync.Once
	trampolines     Trampolines

	// hooksErr says why no security hook can be observed; nil where they can. hooksOnce finds it out.
	hooksOnce sync.Once
	hooksErr  error

	// hooksTried has the same of single hooks. hooksTriedMu guards it.
	hooksTriedMu sync.Mutex
	hooksTried   map[string]error // by their names

	// functions are those that can be probed, functionsErr says why they are not known. functionsOnce reads their list.
	functionsOnce sync.Once
	functions     []FunctionName
	functionsErr  error

	// symbols are the addresses, symbolsErr says why they are not known. symbolsOnce reads them.
	symbolsOnce sync.Once
	symbols     *Symbols
	symbolsErr  error

	// blacklist has the functions that must not be probed, blacklistErr says why it is not known. blacklistOnce reads
	// it.
	blacklistOnce sync.Once
	blacklist     *Blacklist
	blacklistErr  error

	// tracepoints has the formats that were read so far. mu guards it.
	mu          sync.Mutex
	tracepoints map[TracepointName]*Tracepoint
}

// Open prepares to read facts; it reads none.
func Open(opts Options) *Facts { return &Facts{opts: opts} }

// Symbols gives the addresses of the kernel's functions and variables.
func (f *Facts) Symbols() (*Symbols, error) {
	f.symbolsOnce.Do(func() {
		read := f.opts.Symbols
		if read == nil {
			read = OpenSymbols
		}
		f.symbols, f.symbolsErr = read()
	})
	return f.symbols, f.symbolsErr
}

// Blacklist gives the functions that must not be probed.
func (f *Facts) Blacklist() (*Blacklist, error) {
	f.blacklistOnce.Do(func() {
		if f.earlier != nil {
			f.blacklist, f.blacklistErr = f.earlier.Blacklist()
			return
		}
		read := f.opts.Blacklist
		if read == nil {
			read = OpenBlacklist
		}
		f.blacklist, f.blacklistErr = read()
	})
	return f.blacklist, f.blacklistErr
}

// Namesakes gives the addresses of the functions of a name where there are
// several; static functions of several files can share one. The symbols are read
// only where the kernel does not say by itself that there are no two.
func (f *Facts) Namesakes(name string) ([]uint64, error) {
	if f.opts.OnlyFunction != nil && f.opts.OnlyFunction(name) {
		return nil, nil
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	if list := symbols.Addrs(name); len(list) > 1 {
		return list, nil
	}
	return nil, nil
}

// A FunctionName is a line of the list of functions: a Name, and the Module that has it, "" for the kernel proper. As
// is the name by which the list or the types have the same code, "": the same.
type FunctionName struct{ Name, Module, As string }

// Features says which ways to probe functions this kernel has. They are found
// by trying (internal/attach), for distributions carry features back.
type Features struct {
	// Kprobe: kernel functions can be probed by breakpoints or ftrace (CONFIG_KPROBES).
	Kprobe bool
	// KprobeMulti: one link probes many functions (5.18, CONFIG_FPROBE).
	KprobeMulti bool
	// KprobesCount: such a link counts the calls that it does not follow to their
	// return (link_info of kprobe_multi, 6.7).
	KprobesCount bool
	// KprobeSession: such a link runs one program at the entry and at the return
	// (6.10), which decides at the entry whether it does at the return.
	KprobeSession bool
	// Uprobe: user functions can be probed (CONFIG_UPROBES).
	Uprobe bool
	// UprobeMulti: one link probes many places of a binary (6.6).
	UprobeMulti bool
	// UprobesOfProcess: such a link sees all threads of the one process that it is for (6.10); before, only that
	// thread whose number is the process's ("bpf: Fix multi-uprobe PID filtering logic").
	UprobesOfProcess bool
	// KprobeDenied: probes of kernel functions that stand alone are refused to this
	// process, as perf events are where kernel.perf_event_paranoid is 3.
	KprobeDenied bool
	// PerfDenied: so are all perf events.
	PerfDenied bool
	// UprobeSession: such a link runs one program at the entry and at the return
	// (6.13), as KprobeSession does.
	UprobeSession bool
	// Cookies: a program learns at which of its places it runs
	// (bpf_get_attach_cookie, 5.15).
	Cookies bool
	// Why has the reason where Kprobe or Uprobe is missing, for messages.
	Why map[string]string
}

// Trampolines says whether programs can be attached by trampolines at kernel
// functions (5.5; Debian's 5.10 has them).
type Trampolines struct {
	// There: they can.
	There bool
	Why   string // where they are missing, for messages
	// Denied: this process may not load programs, so that what seems missing may
	// be there.
	Denied bool
}

// A loadedModule is the outcome of reading a module's types.
type loadedModule struct {
	types *moduleBTF
	err   error
}

// A BPFProgram is a program that the kernel runs.
type BPFProgram struct {
	// Name is that of its function, or, without types, what the kernel keeps of its
	// name: 15 characters.
	Name string
	// ID is its number, by which it can be opened.
	ID uint32
	// Func is its function in its own BTF; 0: it has no types.
	Func uint32
}
