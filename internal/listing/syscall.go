package listing

import (
	"fmt"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/point"
)

// System calls in `startrace list`, with their arguments and notes, as that one never returns.

// syscalls finds system calls by the kernel's names and those of unistd.h.
func (s *Source) syscalls(r *Result, k *point.Kind, rest string) error {
	if _, err := naming.Compile(rest); err != nil {
		return err
	}
	found := onePerName(kernel.MatchSyscalls(orAll(rest)))
	for i := range found {
		sc := &found[i]
		r.Points = append(r.Points, &Point{Name: k.Name + ":" + sc.Name, Kind: k.Name, detail: func(p *Point) {
			syscall(k, p, sc)
			if sc.Entry == kernel.EntryNative && s.lacks(sc.Name) {
				p.Notes = append(p.Notes, "this kernel does not seem to have it")
			}
		}})
	}
	if len(found) == 0 && !naming.IsPattern(rest) {
		if near := naming.Suggest(rest, kernel.SyscallNames()); near != "" {
			r.hint(didYouMean(k.Name + ":" + near))
		}
	}
	return nil
}

// onePerName leaves out calls of other interfaces under the name of one before.
func onePerName(list []kernel.Syscall) (out []kernel.Syscall) {
	seen := map[string]bool{}
	for _, sc := range list {
		if !seen[sc.Name] {
			out = append(out, sc)
		}
		seen[sc.Name] = true
	}
	return out
}

// lacks reports whether nothing in the kernel shows a system call, while
// others are shown: the table has those of all versions.
func (s *Source) lacks(name string) bool {
	return !s.shows(name) && s.shows("read") && s.shows("getpid")
}

// shows looks for what SYSCALL_DEFINE makes: a tracepoint, or functions whose
// prefix depends on the machine (arch/*/include/asm/syscall_wrapper.h).
func (s *Source) shows(name string) bool {
	if found, err := s.Facts.MatchTracepoints("syscalls", "sys_enter_"+name); err == nil && len(found) > 0 {
		return true
	}
	b, err := s.Facts.BTF()
	if err != nil {
		return false
	}
	for _, prefix := range []string{"__x64_sys_", "__arm64_sys_", "__do_sys_"} {
		if _, ok := b.Named(kernel.KindFunc, prefix+name); ok {
			return true
		}
	}
	return false
}

func syscall(k *point.Kind, p *Point, sc *kernel.Syscall) {
	p.Where = fmt.Sprintf("number %d", sc.Nr)
	if sc.Entry == kernel.EntryCompat {
		p.Where = fmt.Sprintf("number %d of programs of 32 bits", sc.Number())
	}
	if sc.ABI != sc.Name {
		p.Notes = append(p.Notes, "in unistd.h it is called "+sc.ABI)
	}
	for i, a := range sc.Args() {
		p.Fields = append(p.Fields, callArgument(sc.Name, a, i))
	}
	if len(sc.Args()) > 0 {
		p.Fields = append(p.Fields, Field{Name: "e.args", Type: "record", Note: "str(e.args) is all of them as text"})
	}
	if sc.IsNoReturn() {
		p.Notes = append(p.Notes, "it never returns: the event is its start")
		return
	}
	p.Fields = append(p.Fields, Field{Name: "e.ret", C: "long", Type: "int", Size: 8,
		Note: "errno(e.ret) names an error"})
	p.Fields = append(p.Fields, spanFields(k)...)
}

// callArgument is argument i of a system call.
func callArgument(call string, a kernel.SyscallArg, i int) Field {
	f := Field{Name: argName(a.Name, i), C: a.CType, Size: a.Size, Type: "int"}
	switch {
	case a.CType == kernel.Pages:
		f.C, f.Note = "unsigned long", "bytes; the call has it as a number of pages of 4096"
	case a.IsStringList:
		f.Type = "list of strings"
	case a.IsString:
		f.Type = "string"
	case a.IsBuffer:
		f.Type, f.Note = "pointer", fmt.Sprintf("bytes: mem(%s, n)", f.Name)
	case a.IsPtr:
		f.Type = "pointer"
	default:
		f.Note = family(call, a.Name, f.Name)
	}
	return f
}

// family shows how the flags of an argument are named, where one family of
// constants has them all.
func family(call, arg, expr string) string {
	prefix := ""
	switch {
	case strings.HasPrefix(call, "open") && !strings.HasPrefix(call, "open_tree") &&
		arg == "flags": // those have OPEN_TREE_ and AT_
		prefix = "O_"
	case arg == "dfd" || arg == "dirfd":
		return "AT_FDCWD, or a file: e.file(" + expr + ")"
	case arg == "fd":
		return "path(e.file(" + expr + ")) is the file's"
	case arg == "mode" && (strings.HasPrefix(call, "open") || strings.HasPrefix(call, "mk") ||
		strings.Contains(call, "chmod")):
		prefix = "mode"
	case arg == "prot":
		prefix = "PROT_"
	case arg == "sig":
		return "signal(" + expr + ") is its name"
	case call == "mmap" && arg == "flags":
		prefix = "MAP_"
	}
	if prefix == "" {
		return ""
	}
	return fmt.Sprintf("names(%s, %q) is text", expr, prefix)
}
