package machine

import (
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/infer"
	"github.com/startrace/startrace/internal/listing"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/point"
)

// Completion of points, and of fields of e and e.args (`FieldWords`).

// PointWords completes a point field by field: a kind, a category, a name. They
// are the words that could follow what is typed; shown are what a pattern matches.
func (m *Machine) PointWords(typed string) (words, shown []string) {
	word, rest, ok := strings.Cut(typed, ":")
	if !ok {
		for _, kind := range point.Kinds() { // quicker than Find, which counts
			words = append(words, kind.Name+":")
		}
		return words, nil
	}
	kind, ok := point.Named(word)
	if !ok {
		return nil, nil
	}
	if files, typing := programWords(word, kind, rest); typing {
		return files, nil
	}
	pattern := kind.Name + ":" + rest + "*"
	if kind.Categories && !strings.Contains(rest, ":") {
		pattern += ":*"
	}
	r, err := m.Listing().Find(pattern)
	if err != nil {
		return nil, nil
	}
	for _, p := range r.Points {
		_, name, _ := strings.Cut(p.Name, ":")
		words = append(words, word+":"+asTyped(kind, rest, name))
	}
	if naming.IsPattern(rest) {
		return nil, words
	}
	return upToField(words, len(typed)), nil
}

// asTyped is what a list says behind a kind's name, with the file as it is typed: lists have its whole path.
func asTyped(kind *point.Kind, rest, listed string) string {
	typed, found := point.Split(rest, 2), point.Split(listed, 2)
	if !kind.InPrograms || len(typed) < 2 || len(found) < 2 || naming.IsPattern(typed[0]) {
		return listed
	}
	return typed[0] + ":" + found[1]
}

// upToField cuts words behind the field that is typed.
func upToField(words []string, typed int) []string {
	for i, w := range words {
		if typed > len(w) {
			continue
		}
		if end := strings.IndexByte(w[typed:], ':'); end >= 0 {
			words[i] = w[:typed+end+1]
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// FieldWords are the fields of the event of the points that are typed, or of a
// part of it.
func (m *Machine) FieldWords(points, path []string) []string {
	if len(path) > 0 && path[0] == "start" {
		path = path[1:]
	}
	switch {
	case len(path) == 0:
		return infer.EventFields()
	case path[0] == "task":
		return m.members("struct task_struct", path[1:])
	case path[0] != "args" && path[0] != "vars":
		return nil
	}
	var out []string
	for _, f := range m.pointArgs(points) {
		name := strings.TrimPrefix(f.Name, "e."+path[0]+".")
		switch {
		case strings.HasPrefix(name, "e."):
		case len(path) == 1:
			out = append(out, name)
		case name == path[1]:
			out = append(out, m.members(f.C, path[2:])...)
		}
	}
	return out
}

// pointArgs are the fields of points, of each kind of them the first few: a pattern
// can match thousands.
func (m *Machine) pointArgs(points []string) (out []listing.Field) {
	const enough = 20
	src := m.Listing()
	src.Verbose = true
	for _, point := range points {
		r, err := src.Find(point)
		if err != nil {
			continue
		}
		r.Points = r.Points[:min(len(r.Points), enough)]
		for p := range r.All() {
			out = append(out, p.Fields...)
		}
	}
	return out
}

// members are those of a struct by its C name, or of a member of it.
func (m *Machine) members(c string, path []string) (out []string) {
	c = strings.TrimSpace(strings.Trim(strings.ReplaceAll(c, "const ", ""), "* "))
	if !strings.HasPrefix(c, "struct ") && !strings.HasPrefix(c, "union ") {
		return nil
	}
	src := m.Listing()
	src.Verbose = true
	r, err := src.Find(strings.Join(append([]string{c}, path...), "."))
	if err != nil {
		return nil
	}
	for _, t := range r.Types {
		out = append(out, memberNames(t.Members)...)
	}
	return out
}

// memberNames are the names that can stand behind a dot: those of members
// without a name are its own.
func memberNames(members []listing.Member) (out []string) {
	for _, m := range members {
		if m.Name == "" {
			out = append(out, memberNames(m.Members)...)
		} else {
			out = append(out, m.Name)
		}
	}
	return out
}
