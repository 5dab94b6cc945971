package kernel

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
)

// The list of functions that can be traced (available_filter_functions).

// readFilterFunctions parses lines `name` and `name [module]`
// (kernel/trace/ftrace.c, t_show).
func readFilterFunctions(r io.Reader) ([]FunctionName, error) {
	var list functionList
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, module, _ := bytes.Cut(lines.Bytes(), []byte(" ["))
		// Placeholders of functions that were left out (5.19).
		if len(name) > 0 && !bytes.HasPrefix(name, []byte("__ftrace_invalid_address__")) {
			list.add(name, bytes.TrimSuffix(module, []byte{']'}))
		}
	}
	return list.sorted(), lines.Err()
}

// functions are the symbols that the kernel's linker put into code.
func (s *Symbols) functions() []FunctionName {
	var list functionList
	for i := range s.addrs {
		if !s.code[i] {
			continue
		}
		// Loaded BPF programs, and trampolines of ftrace, kprobes and static calls
		// (kernel/kallsyms.c, get_ksym_bpf and its neighbours) are no functions.
		if name, module := s.parts(i); string(module) != "bpf" && !bytes.HasPrefix(module, []byte("__builtin__")) {
			list.add(name, module)
		}
	}
	return list.sorted()
}

// A functionList takes the names of functions: a hundred thousand. They are parts of a few texts, and how many they are
// is known when the last one has been added. As strings of their own in a slice that grows they took three times as
// much while they were read.
type functionList struct {
	// texts are lines `name` and `name\tmodule`, and text is the one that is being written.
	texts []string
	text  strings.Builder
	n     int
}

// functionText is how long such a text is, about.
const functionText = 64 << 10

func (l *functionList) add(name, module []byte) {
	if l.n++; l.text.Len()+len(name)+len(module)+2 > l.text.Cap() {
		l.end()
		l.text.Grow(functionText)
	}
	l.text.Write(name)
	l.text.WriteByte('\t')
	l.text.Write(module)
	l.text.WriteByte('\n')
}

// end ends a text.
func (l *functionList) end() {
	l.texts = append(l.texts, l.text.String())
	l.text.Reset()
}

// sorted gives them by name, once each.
func (l *functionList) sorted() []FunctionName {
	l.end()
	out := make([]FunctionName, 0, l.n)
	for _, text := range l.texts {
		for line := range strings.Lines(text) {
			name, module, _ := strings.Cut(line[:len(line)-1], "\t")
			out = append(out, FunctionName{Name: name, Module: module})
		}
	}
	return sortFunctions(out)
}

func sortFunctions(list []FunctionName) []FunctionName {
	slices.SortFunc(list, func(a, b FunctionName) int {
		if order := strings.Compare(a.Name, b.Name); order != 0 {
			return order
		}
		return strings.Compare(a.Module, b.Module) // the kernel's own first
	})
	return slices.CompactFunc(list, func(a, b FunctionName) bool { return a.Name == b.Name })
}
