package listing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
)

// A kind is a kind of points.
type kind struct {
	name, short string
	what        string
	form        string
	examples    []string
	gives       []string // the parts of e that it adds
	find        func(s *Source, r *Result, k *kind, rest string) error
	bare        bool // names without a kind are looked for here
	counted     bool // its points can be counted without naming a program
	few         bool // the kind alone lists them
}

func (k *kind) has(part string) bool { return slices.Contains(k.gives, part) }

// kinds are in the order in which they are listed.
var kinds []*kind

func init() { // the functions refer to the table
	kinds = []*kind{
		{name: "tracepoint", short: "t", what: "tracepoints of the kernel", form: "CATEGORY:NAME",
			examples: []string{"tracepoint:sched:sched_switch", "tracepoint:block:*"}, find: (*Source).tracepoints,
			bare: true, counted: true},
		{name: "rawtracepoint", short: "rt", what: "the same with the arguments of their call sites", form: "NAME",
			examples: []string{"rawtracepoint:sched_switch"}, find: (*Source).rawTracepoints, bare: true,
			counted: true},
		{name: "syscall", short: "sc", what: "system calls, enter and exit as one event", form: "NAME",
			gives:    []string{"args", "ret", "duration"},
			examples: []string{"syscall:open{,at,at2}", "syscall:*"}, find: (*Source).syscalls, bare: true,
			counted: true},
		{name: "func", what: "calls of kernel functions, entry and return as one event", form: "FUNCTION",
			gives:    []string{"args", "ret", "duration", "depth"},
			examples: []string{"func:vfs_read", "func:tcp_*"}, find: (*Source).kernelFunctions, bare: true,
			counted: true},
		{name: "kprobe", short: "k", what: "entries of kernel functions, or places in them", form: "FUNCTION[+OFFSET]",
			gives:    []string{"args"},
			examples: []string{"kprobe:vfs_*"}, find: (*Source).kernelFunctions, counted: true},
		{name: "kretprobe", short: "kr", what: "returns of kernel functions", form: "FUNCTION", gives: []string{"ret"},
			examples: []string{"kretprobe:vfs_read"}, find: (*Source).kernelFunctions, counted: true},
		{name: "fentry", short: "f", what: "entries of kernel functions by trampolines", form: "FUNCTION",
			gives:    []string{"args"},
			examples: []string{"fentry:vfs_read"}, find: (*Source).kernelFunctions, counted: true},
		{name: "fexit", short: "fr", what: "returns of kernel functions by trampolines", form: "FUNCTION",
			gives:    []string{"args", "ret"},
			examples: []string{"fexit:vfs_read"}, find: (*Source).kernelFunctions, counted: true},
		{name: "ufunc", what: "calls of user functions, entry and return as one event", form: "PROGRAM:FUNCTION",
			gives:    []string{"args", "ret", "duration", "depth"},
			examples: []string{"ufunc:c:malloc", "ufunc:./a.out:main.*"}, find: (*Source).userFunctions},
		{name: "uprobe", short: "u", what: "entries of user functions, or places in them",
			form: "PROGRAM:FUNCTION[+OFFSET]", gives: []string{"args"},
			examples: []string{"uprobe:c:getaddrinfo", `uprobe:./a.out:"ns::f*"`}, find: (*Source).userFunctions},
		{name: "uretprobe", short: "ur", what: "returns of user functions", form: "PROGRAM:FUNCTION",
			gives:    []string{"ret"},
			examples: []string{"uretprobe:bash:readline"}, find: (*Source).userFunctions},
		{name: "usdt", short: "U", what: "static probes of programs", form: "PROGRAM:[PROVIDER:]NAME",
			gives:    []string{"args"},
			examples: []string{"usdt:c:*"}, find: (*Source).staticProbes},
		{name: "profile", short: "p", what: "samples on every CPU", form: "RATE",
			examples: []string{"profile:99hz", "profile:10ms"},
			find:     (*Source).forms, few: true},
		{name: "interval", short: "i", what: "a timer on one CPU", form: "TIME",
			examples: []string{"interval:1s", "interval:100ms"},
			find:     (*Source).forms, few: true},
		{name: "software", short: "s", what: "events that the kernel counts", form: "EVENT[:N]",
			examples: []string{"software:page-faults:1"},
			find:     (*Source).perfEvents, bare: true, counted: true, few: true},
		{name: "hardware", short: "h", what: "events that the CPU counts", form: "EVENT[:N]",
			examples: []string{"hardware:cache-misses:10000"},
			find:     (*Source).perfEvents, bare: true, counted: true, few: true},
		{name: "watchpoint", short: "w", what: "accesses of memory", form: "ADDRESS|SYMBOL:LENGTH:rwx",
			examples: []string{"watchpoint:jiffies:8:w", "watchpoint:0xffffffff81000000:8:rw"}, find: (*Source).forms,
			few: true},
		{name: "iter", short: "it", what: "iterators of the kernel: one event for each object that it has",
			form: "KIND", gives: []string{"args"},
			examples: []string{"iter:task"}, find: (*Source).iterators, bare: true, counted: true, few: true},
	}
}

func kindNamed(name string) *kind {
	return kinds[slices.IndexFunc(kinds, func(k *kind) bool { return k.name == name })]
}

// KindNames are the kinds of points, as probe() takes them.
func KindNames() (out []string) {
	for _, k := range kinds {
		out = append(out, k.name)
	}
	return out
}

// A Summary says what there is of a kind.
type Summary struct {
	Kind     string   `json:"kind"`
	Short    string   `json:"short,omitempty"`
	What     string   `json:"what"`
	Form     string   `json:"form"`
	Examples []string `json:"examples"`
	Count    *int     `json:"count,omitempty"` // nil where that is not known
	Groups   []Group  `json:"groups,omitempty"`
}

// A Group is a category of tracepoints, or a module with functions.
type Group struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

func (s *Source) summarize(r *Result, list []*kind) {
	functions := -1 // counted once for all kinds that mean functions
	for _, k := range list {
		sum := &Summary{Kind: k.name, Short: k.short, What: k.what, Form: k.name + ":" + k.form, Examples: k.examples}
		r.Kinds = append(r.Kinds, sum)
		if !k.counted {
			continue
		}
		isFunc := strings.HasSuffix(k.form, "FUNCTION") || strings.HasPrefix(k.form, "FUNCTION")
		if isFunc && functions >= 0 {
			sum.Count = &functions
			continue
		}
		found := s.count(r, k)
		if found == nil {
			continue
		}
		n := len(found)
		if sum.Count = &n; isFunc {
			functions = n
		}
		if len(list) == 1 {
			sum.Groups = groups(found)
		}
	}
}

// count finds all points of a kind; nil if they cannot be known.
func (s *Source) count(r *Result, k *kind) []*Point {
	quiet := *s
	quiet.Verbose = false
	all := &Result{}
	if err := k.find(&quiet, all, k, "*"); err != nil {
		r.problem(err)
		return nil
	}
	for _, err := range all.Problems {
		r.problem(err)
	}
	if len(all.Points) == 0 && len(all.Problems) > 0 {
		return nil
	}
	return append([]*Point{}, all.Points...)
}

// groups counts by category or module, the largest first.
func groups(points []*Point) (out []Group) {
	counts := map[string]int{}
	for _, p := range points {
		switch {
		case p.Kind == "tracepoint":
			counts[strings.Split(p.Name, ":")[1]]++
		case p.Module != "":
			counts["module "+p.Module]++
		}
	}
	for name, n := range counts {
		out = append(out, Group{name, n})
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	return out
}

// kindAlone shows a kind; its points if they are few.
func (s *Source) kindAlone(r *Result, k *kind) error {
	s.summarize(r, []*kind{k})
	if k.few {
		return k.find(s, r, k, "*")
	}
	return nil
}

// forms lists examples of a kind whose points are made up by the script.
func (s *Source) forms(r *Result, k *kind, rest string) error {
	list := k.examples
	if rest != "" && !kernel.IsPattern(rest) {
		list = []string{k.name + ":" + rest}
	}
	for _, name := range list {
		p := &Point{Name: name, Kind: k.name, Notes: []string{k.what + "; the form is " + k.name + ":" + k.form}}
		p.Fields = []Field{{Name: "e.ip", Type: "int", Size: 8, Note: "ksym(e.ip) is the function"},
			{Name: "e.usermode", Type: "bool"}}
		r.Points = append(r.Points, p)
	}
	return nil
}
