package listing

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/abi"
	"github.com/startrace/startrace/internal/binary"
	"github.com/startrace/startrace/internal/ctypes"
	"github.com/startrace/startrace/internal/locate"
	"github.com/startrace/startrace/internal/naming"
	"github.com/startrace/startrace/internal/point"
	"github.com/startrace/startrace/internal/signature"
	"github.com/startrace/startrace/internal/usdt"
)

// Functions of programs and static probes in `startrace list`, with notes about their arguments, and those that cannot
// be probed.

// files gives the programs that the first field of a pattern names, and the
// rest of the pattern. Of one traced process a pattern means all that is
// mapped.
func (s *Source) files(k *point.Kind, rest string) (files []string, pattern string, err error) {
	if s.Programs == nil {
		return nil, "", errNoPrograms
	}
	f := point.Split(rest, 2)
	if len(f) == 1 && s.Traced && !strings.Contains(rest, "/") {
		return []string{""}, orAll(rest), nil
	}
	if f[0] == "" && !s.Traced || f[0] == "*" && !s.Traced {
		return nil, "", fmt.Errorf("%s: which program? Give its path or name, as %s:c:*, or one process with -p",
			k.Name, k.Name)
	}
	pattern = "*"
	if len(f) == 2 {
		pattern = orAll(f[1])
	}
	if !naming.IsPattern(f[0]) {
		return f[:1], pattern, nil
	}
	files, err = s.mapped(f[0])
	return files, pattern, err
}

// mapped are the files of the traced process that match.
func (s *Source) mapped(pattern string) (out []string, err error) {
	glob, err := naming.Compile(pattern)
	if err != nil {
		return nil, err
	}
	all, err := s.Programs.Mapped()
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		if glob.Match(name) || glob.Match(name[strings.LastIndexByte(name, '/')+1:]) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no file that the process has mapped matches %s", pattern)
	}
	return out, nil
}

// userFunctions finds functions of programs and libraries.
func (s *Source) userFunctions(r *Result, k *point.Kind, rest string) error {
	if file, source, line, ok := point.LineOf(rest); ok && k.TakesOffset && !strings.Contains(rest, "@") {
		return s.userLine(r, k, file, source, line)
	}
	in, bySource := point.SourceOf(rest)
	if bySource && in.Function == "" {
		return s.sourceFiles(r, k, in)
	}
	files, pattern, err := s.files(k, rest)
	if bySource {
		files, pattern, err = []string{in.Binary}, orAll(in.Function), s.hasPrograms()
	}
	if err != nil {
		return err
	}
	pattern, quoted := strings.CutPrefix(pattern, `"`)
	if quoted {
		pattern, _, _ = strings.Cut(pattern, `"`)
	} else if !strings.Contains(pattern, "operator+") {
		function, offset, _ := strings.Cut(pattern, "+")
		if n, err := strconv.ParseUint(offset, 0, 30); err == nil && n > 0 && k.TakesOffset && len(files) == 1 {
			return s.behindStart(r, k, files[0], function, n)
		}
		pattern = function
	}
	var failed []error
	var left unprobed
	for _, file := range files {
		list, at, err := s.Programs.Names(binary.Query{File: file, Source: in.File, Pattern: pattern})
		if err != nil {
			failed = append(failed, err)
			if errors.Is(err, locate.ErrNotFound) && !strings.Contains(rest, ":") {
				r.hint("a function stands behind its program: " + k.Name + ":PROGRAM:" + rest)
			}
			continue
		}
		if at.Lost != "" && (bySource || !k.Has("ret")) {
			r.problem(fmt.Errorf("%s: functions that were inlined in some source files are not listed: %s",
				at.Name, at.Lost))
		}
		for i := range list {
			if left.add(k, &list[i]) {
				continue
			}
			line, types := "", (*signature.Signature)(nil)
			if s.Verbose && len(list) <= maxLines {
				line = s.Programs.Line(at, list[i].Addr)
				types = s.Programs.Changed(at, list[i].Addr, list[i].Alteration)
			}
			p := s.userFunction(k, &list[i], at, line, types)
			if bySource {
				p.Name = k.Name + ":" + at.Name + ":@" + list[i].File + ":" + list[i].Name
			}
			r.Points = append(r.Points, p)
		}
	}
	if s.Verbose || len(r.Points) == 0 {
		r.problem(left.err(k))
	}
	s.judge(r, k, files, failed)
	return nil
}

// unprobed are functions that match a pattern and that probes of the kind leave out.
type unprobed struct {
	n            int
	example, why string
}

// add reports whether a function is one of them.
func (u *unprobed) add(k *point.Kind, fn *binary.Listed) bool {
	why := fn.Problem
	if why == "" && k.Has("ret") {
		why = fn.NoReturn
	}
	if why == "" {
		return false
	}
	if u.n++; u.n == 1 {
		u.example, u.why = fn.Name, why
	}
	return true
}

// err says that they are left out, nil if there are none.
func (u *unprobed) err(k *point.Kind) error {
	switch u.n {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s:%s cannot be probed: %s", k.Name, u.example, u.why)
	}
	return fmt.Errorf("%d functions that match cannot be probed, as %s:%s: %s", u.n, k.Name, u.example, u.why)
}

// judge reports why files gave nothing: of several, most have no such function,
// which matters only where none has it.
func (s *Source) judge(r *Result, k *point.Kind, files []string, failed []error) {
	switch {
	case len(r.Points) > 0:
		r.problem(s.missing(k))
	case len(files) > 1 && len(failed) == len(files):
		r.problem(fmt.Errorf("none of the %d files that the process has mapped has one; the first: %w", len(files),
			failed[0]))
	case len(files) == 1 && len(failed) == 1:
		r.problem(failed[0])
	}
}

// maxLines is for how many functions the source is looked for: each takes a
// walk through the file's units.
const maxLines = 64

func (s *Source) userFunction(k *point.Kind, fn *binary.Listed, at *binary.File, line string,
	types *signature.Signature) *Point {
	p := &Point{Name: k.Name + ":" + at.Name + ":" + quoted(fn.Name), Kind: k.Name, File: at.Name}
	p.detail = func(p *Point) {
		p.Where = fmt.Sprintf("address %#x", fn.Addr)
		p.Notes = append(p.Notes, inlinedAt(fn.Copies)...)
		if fn.Inline {
			p.Where = "no code of its own"
			return
		}
		if fn.Size != 0 {
			p.Where += fmt.Sprintf(", %d bytes", fn.Size)
		}
		if line != "" {
			p.Where += ", " + line
		}
		if fn.Full != "" && fn.Full != fn.Name {
			p.Notes = append(p.Notes, fn.Full)
		}
		if fn.Language != "C" {
			p.Notes = append(p.Notes, "called by the convention of "+fn.Language)
		}
		if fn.Turns && !k.Has("ret") {
			p.Notes = append(p.Notes, "it begins with the head of a loop: each turn counts as a call")
		}
		if k.Has("args") {
			p.Fields = append(p.Fields, s.namedArguments(at, types)...)
			p.Fields = append(p.Fields, userArguments(types)...)
		}
		if k.Has("ret") {
			p.Fields = append(p.Fields, s.userResult(at, types)...)
		}
		p.Fields = append(p.Fields, spanFields(k)...)
	}
	return p
}

// userArguments are the words that a function is called with; without types the first of them.
func userArguments(types *signature.Signature) []Field {
	if types == nil || types.OnlyResult {
		return []Field{{Name: "e.args[0]", Type: "int", Size: 8,
			Note: "and so on, by the ABI: its types are not known"}}
	}
	var out []Field
	for i, w := range types.Params {
		out = append(out, word(argName("", i), w))
	}
	if types.Open {
		out = append(out, Field{Name: argName("", len(out)), Type: "int", Size: 8, Note: "and so on, by the ABI"})
	}
	return out
}

// namedArguments are those with a name, by their types.
func (s *Source) namedArguments(at *binary.File, types *signature.Signature) (out []Field) {
	if types == nil {
		return nil
	}
	for i := range types.Arguments {
		if v := &types.Arguments[i]; v.Name != "" {
			out = append(out, s.value(at, argName(v.Name, i), v))
		}
	}
	return out
}

// value is an argument or a result by its type.
func (s *Source) value(at *binary.File, name string, v *signature.Value) Field {
	f := Field{Name: name, Type: "int"}
	if btf, err := s.Facts.BTF(); err == nil && v.Type != 0 {
		if id, err := s.Programs.Type(at, v.Type, btf); err == nil {
			f = s.typed(name, id)
		}
	}
	switch {
	case v.IsConstant:
		f.Note = fmt.Sprintf("always %d, as the compiler knows", v.Constant)
	case len(v.Pieces) == 0 || v.Pieces[0].Where == abi.Nowhere:
		f.Note = "nobody knows its place: it is FAULT"
	case v.Pieces[0].Where == abi.Other && len(v.Pieces) == 1:
		f.Note = "a float: it cannot be read"
	case v.Result && len(v.Pieces) == 1:
		f.asNumber()
	}
	return f
}

// asNumber makes a field a result of one word, which is a number where its type has no fields.
func (f *Field) asNumber() {
	switch {
	case f.Type == "bool":
		f.Type, f.Note = "int", "0 or 1"
	case f.Type == "string" && strings.HasSuffix(f.C, "*"):
		f.Type, f.Note = "int", fmt.Sprintf("an address: cstr(%s) is the string", f.Name)
	}
}

// userResult is what it returns: several words, in the order in which they are, are a tuple.
func (s *Source) userResult(at *binary.File, types *signature.Signature) []Field {
	switch {
	case types != nil && len(types.Results) == 1:
		return []Field{s.value(at, "e.ret", &types.Results[0])}
	case types != nil && len(types.Results) > 1:
		out := []Field{{Name: "e.ret", Type: "tuple", Note: fmt.Sprintf("of %d results", len(types.Results))}}
		for i := range types.Results {
			f := s.value(at, fmt.Sprintf("e.ret[%d]", i), &types.Results[i])
			if name := types.Results[i].Name; name != "" && !strings.HasPrefix(name, "~") && f.Note == "" {
				f.Note = name
			}
			out = append(out, f)
		}
		return out
	case types == nil || !types.Void && len(types.Result) == 0:
		return []Field{{Name: "e.ret", Type: "int", Size: 8}}
	case types.Void:
		return []Field{{Name: "e.ret", Type: "None", Note: "it returns nothing (void)"}}
	case len(types.Result) == 1:
		return []Field{word("e.ret", types.Result[0])}
	}
	out := []Field{{Name: "e.ret", Type: "tuple", Size: 8 * len(types.Result),
		Note: fmt.Sprintf("of %d words", len(types.Result))}}
	for i, w := range types.Result {
		out = append(out, word(fmt.Sprintf("e.ret[%d]", i), w))
	}
	return out
}

// word is one of those that a function of known types is called with, or returns.
func word(name string, w signature.Word) Field {
	f := Field{Name: name, Type: "int", Size: w.Size}
	switch {
	case w.Unknown:
		f.Note = "nobody knows its place: it is FAULT"
	case w.Where == abi.Other:
		f.Note = "a float: it cannot be read"
	case w.Address:
		f.Note = "an address"
	case w.Signed:
		f.Note = fmt.Sprintf("%d bits, signed", 8*w.Size)
	default:
		f.Note = fmt.Sprintf("%d bits, unsigned", 8*w.Size)
	}
	return f
}

// quoted protects the colons of C++ and Rust.
func quoted(name string) string {
	if strings.ContainsAny(name, ":+") || strings.HasPrefix(name, "0x") {
		return `"` + name + `"`
	}
	return name
}

// staticProbes finds the static probes of programs.
func (s *Source) staticProbes(r *Result, k *point.Kind, rest string) error {
	files, pattern, err := s.files(k, rest)
	if err != nil {
		return err
	}
	var failed []error
	for _, file := range files {
		list, at, err := s.Programs.Static(file, pattern)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		for _, probe := range list {
			name := k.Name + ":" + at.Name + ":" + probe.Provider + ":" + probe.Name
			r.Points = append(r.Points, &Point{Name: name, Kind: k.Name, File: at.Name, detail: s.namedProbe(probe)})
		}
	}
	s.judge(r, k, files, failed)
	return nil
}

// namedProbe shows a probe with the names and types that the table of static probes has.
func (s *Source) namedProbe(probe usdt.StaticProbe) func(*Point) {
	return func(p *Point) {
		staticProbe(probe)(p)
		btf, err := s.Facts.BTF()
		if err != nil {
			return
		}
		params, _ := ctypes.Operands(btf, &ctypes.Types{}, probe.Provider, probe.Name, probe.Args())
		for i := range params {
			s.nameOperand(&p.Fields[i], &params[i])
		}
	}
}

// staticProbe shows the arguments of a probe. Each is shown as the first place has it that has so many. Others can have
// it elsewhere, but where it is of another size there, or where they have fewer, a note says so.
func staticProbe(probe usdt.StaticProbe) func(*Point) {
	return func(p *Point) {
		if len(probe.Places) == 0 {
			return
		}
		first := probe.Places[0]
		p.Where = fmt.Sprintf("address %#x", first.Addr)
		switch n := len(probe.Places); {
		case n == 2:
			p.Where += " and 1 more place"
		case n > 2:
			p.Where += fmt.Sprintf(" and %d more places", n-1)
		}
		for i := 0; ; i++ {
			at := havingArgument(probe.Places, i)
			if len(at) == 0 {
				break
			}
			p.Fields = append(p.Fields, operandAt(i, at, len(probe.Places)))
		}
		if first.Semaphore != 0 {
			p.Notes = append(p.Notes, "it has a semaphore: its arguments are prepared only while it is traced")
		}
	}
}

// nameOperand gives an argument the name and the type that the table of static probes has. An int stays as the program
// has it.
func (s *Source) nameOperand(f *Field, p *ctypes.Param) {
	typed := s.typed(argName(p.Name, 0), p.Type)
	f.Note = f.Name + ", " + f.Note
	if f.Name = typed.Name; typed.Type != "int" && typed.Type != "float" {
		f.C, f.Type = typed.C, typed.Type
	}
	if p.Length != "" {
		f.Note = "of " + argName(p.Length, 0) + " bytes; " + f.Note
	}
}

// havingArgument are the places that have an argument of a number.
func havingArgument(places []usdt.Place, i int) (out []usdt.Place) {
	for _, at := range places {
		if i < len(at.Args) {
			out = append(out, at)
		}
	}
	return out
}

// operandAt is an argument by the places that have it, of all places of a probe.
func operandAt(i int, having []usdt.Place, all int) Field {
	f := operand(i, &having[0].Args[i])
	if len(having) < all {
		f.Note += fmt.Sprintf(": at %d of %d places", len(having), all)
	}
	shown := map[string]bool{f.C: true}
	for _, at := range having {
		if o := &at.Args[i]; !shown[sizedInt(o)] {
			shown[sizedInt(o)] = true
			f.Note += fmt.Sprintf(", and %s at another one (%s)", sizedInt(o), o.Text)
		}
	}
	return f
}

func operand(i int, o *usdt.Operand) Field {
	f := Field{Name: fmt.Sprintf("e.args.arg%d", i), C: sizedInt(o), Type: "int", Size: o.Size, Note: o.Text}
	switch {
	case o.Float && o.Kind != usdt.InMemory:
		f.Note += ": a floating-point number, which cannot be read"
	case o.Problem != "":
		f.Note += ": cannot be read: " + o.Problem
	}
	return f
}

// sizedInt names an operand's size as C does.
func sizedInt(o *usdt.Operand) string {
	switch {
	case o.Float && o.Size == 4:
		return "float"
	case o.Float:
		return "double"
	case o.Signed:
		return fmt.Sprintf("s%d", o.Size*8)
	}
	return fmt.Sprintf("u%d", o.Size*8)
}
