package value

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// Methods of strings for strings that were cut or are not UTF-8: upper, replace, join, format, splitlines.
//
// The interpreter's methods of strings take what is not UTF-8 for U+FFFD, and what
// they make new knows nothing of what it was made of (see marks). These stand for
// them: they keep each byte that is no letter, and what is known of it.

type textMethod func(th *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple,
	kwargs []starlark.Tuple) (starlark.Value, error)

var textMethods map[string]textMethod

func init() {
	textMethods = map[string]textMethod{
		"upper": cased(upper), "lower": cased(lower), "title": cased(title), "capitalize": cased(capitalize),
		"isupper": isCased(upper), "islower": isCased(lower),
		"strip": strip, "lstrip": strip, "rstrip": strip,
		"rsplit": splitting, "split": splitting, "splitlines": splitting,
		"partition": parting, "rpartition": parting, "removeprefix": parting, "removesuffix": parting,
		"replace": replace, "join": join, "format": formatMethod, "codepoints": codepointsMethod,
		"codepoint_ords": countedMethod,
	}
}

// HasTextMethod reports whether strings have a method of this name that is not the
// interpreter's.
func HasTextMethod(name string) bool { return textMethods[name] != nil }

// A withMethods is a string as it is before the dot of a method.
type withMethods struct {
	text
	value starlark.Value // the string as it was: that of an empty one that was cut is not in text
}

// WithMethods is a value of which a method is asked for.
func WithMethods(v starlark.Value) starlark.Value {
	if s, ok := v.(starlark.String); ok {
		return withMethods{s, v}
	}
	return v
}

// Attr gives a method.
func (s withMethods) Attr(name string) (starlark.Value, error) {
	method := textMethods[name]
	if method == nil {
		return s.text.Attr(name)
	}
	return starlark.NewBuiltin(name, func(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple,
		kwargs []starlark.Tuple) (starlark.Value, error) {
		return method(th, b, string(b.Receiver().(starlark.String)), args, kwargs)
	}).BindReceiver(s.value), nil
}

// interpreters is the interpreter's own method, called.
func interpreters(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (
	starlark.Value, error) {
	method, err := b.Receiver().(starlark.String).Attr(b.Name())
	if err != nil {
		return nil, err
	}
	return method.(*starlark.Builtin).CallInternal(th, args, kwargs)
}

// A caser gives the rune for one of a text, whose offset it is told, and which the
// rune before was.
type caser func(i int, before, r rune) rune

func upper(_ int, _, r rune) rune { return unicode.ToUpper(r) }
func lower(_ int, _, r rune) rune { return unicode.ToLower(r) }

func capitalize(i int, _, r rune) rune {
	if i == 0 {
		return unicode.ToTitle(r)
	}
	return unicode.ToLower(r)
}

func title(_ int, before, r rune) rune {
	if hasCases(before) {
		return unicode.ToLower(r)
	}
	return unicode.ToTitle(r)
}

func hasCases(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || unicode.SimpleFold(r) != r
}

func cased(f caser) textMethod {
	return func(th *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple, kwargs []starlark.Tuple) (
		starlark.Value, error) {
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0); err != nil {
			return nil, err
		}
		if err := CheckRoom(th, newText(2*uint64(len(s)), s)); err != nil {
			return nil, err
		}
		return boxed(mapped(s, f)), nil
	}
}

// isCased is isupper and islower: there are letters, and f changes none.
func isCased(f caser) textMethod {
	return func(_ *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple, kwargs []starlark.Tuple) (
		starlark.Value, error) {
		if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0); err != nil {
			return nil, err
		}
		return starlark.Bool(strings.ContainsFunc(s, hasCases) && string(mapped(s, f)) == s), nil
	}
}

// mapped is s with f of each of its runes. It changes letters, so what is special stays.
func mapped(s string, f caser) starlark.String {
	known := marksOf(s)
	m := marks{all: known.all}
	out := make([]byte, 0, len(s))
	before := utf8.RuneError
	for i := 0; i < len(s); {
		for len(known.cuts) > 0 && known.cuts[0] <= i {
			m.cuts, known.cuts = append(m.cuts, len(out)), known.cuts[1:]
		}
		if len(known.own) > 0 && known.own[0] == i {
			m.own, known.own = append(m.own, len(out)), known.own[1:]
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			out = append(out, s[i])
		} else {
			r = f(i, before, r)
			out = utf8.AppendRune(out, r)
		}
		before = r
		i += size
	}
	for range known.cuts {
		m.cuts = append(m.cuts, len(out))
	}
	return marked(string(out), m)
}

// strip is strip, lstrip and rstrip. A byte that is no character is one to strip only
// if the characters have it.
func strip(th *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple, kwargs []starlark.Tuple) (
	starlark.Value, error) {
	var chars string
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 0, &chars); err != nil {
		return nil, err
	}
	if chars == "" || utf8.ValidString(s) && utf8.ValidString(chars) {
		left, err := interpreters(th, b, args, kwargs)
		return stripped(b.Name(), s, left), err
	}
	set := map[string]bool{}
	for _, c := range characters(chars) {
		set[c] = true
	}
	list := characters(s)
	from, to := 0, len(s)
	for ; b.Name() != "rstrip" && len(list) > 0 && set[list[0]]; list = list[1:] {
		from += len(list[0])
	}
	for ; b.Name() != "lstrip" && len(list) > 0 && set[list[len(list)-1]]; list = list[:len(list)-1] {
		to -= len(list[len(list)-1])
	}
	return stripped(b.Name(), s, starlark.String(s[from:to])), nil
}

// characters are the parts of s that are a character each, or a byte that is none.
func characters(s string) (list []string) {
	for len(s) > 0 {
		_, size := utf8.DecodeRuneInString(s)
		list = append(list, s[:size])
		s = s[size:]
	}
	return list
}

func replace(th *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple, kwargs []starlark.Tuple) (
	starlark.Value, error) {
	var old, by string
	count := -1
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &old, &by, &count); err != nil {
		return nil, err
	}
	if n := strings.Count(s, old); count < 0 || n < count {
		count = n
	}
	if count == 0 {
		return boxed(starlark.String(s)), nil
	}
	if err := checkText(th, uint64(len(s)-count*len(old))+uint64(count)*uint64(len(by))); err != nil {
		return nil, err
	}
	if isNothing(s) && isNothing(by) {
		return boxed(starlark.String(strings.Replace(s, old, by, count))), nil
	}
	if err := CheckRoom(th, uint64(count)*2*slot); err != nil {
		return nil, err
	}
	parts := around(s, old, count)
	if err := checkJoined(th, by, parts); err != nil {
		return nil, err
	}
	return boxed(replaced(s, len(old), by, parts)), nil
}

// around are the parts of s around the first count places where old stands. "" stands before and behind each
// character.
func around(s, old string, count int) []string {
	if old != "" {
		return strings.SplitN(s, old, count+1)
	}
	list := append([]string{""}, characters(s)...)
	if count >= len(list) {
		return append(list, "")
	}
	at := 0
	for _, c := range list[:count] {
		at += len(c)
	}
	return append(list[:count:count], s[at:])
}

// replaced is s with a text in the place of what stands between these parts of it. Where s was cut in what is replaced,
// or behind it, the text is cut.
func replaced(s string, size int, by string, parts []string) starlark.String {
	cuts, known := marksOf(s).cuts, marksOf(by)
	a := newAssembly(0)
	at := 0
	for i, part := range parts {
		a.add(part)
		if at += len(part); i == len(parts)-1 {
			break
		}
		a.addKnown(by, known)
		if slices.ContainsFunc(cuts, func(cut int) bool { return cut > at && cut <= at+size }) {
			a.addKnown("", marks{cuts: []int{0}})
		}
		at += size
	}
	return a.string()
}

// cutBehind is s that knows that there was more.
func cutBehind(s starlark.String) starlark.String {
	a := newAssembly(len(s))
	a.add(string(s))
	a.addKnown("", marks{cuts: []int{0}})
	return a.string()
}

func join(th *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple, kwargs []starlark.Tuple) (
	starlark.Value, error) {
	var list starlark.Iterable
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &list); err != nil {
		return nil, err
	}
	if err := CheckEach(th, list); err != nil {
		return nil, err
	}
	var parts []string
	for v := range starlark.Elements(list) {
		part, ok := starlark.AsString(v)
		if !ok {
			return interpreters(th, b, args, kwargs) // which says what is wrong
		}
		parts = append(parts, part)
	}
	if err := checkJoined(th, s, parts); err != nil {
		return nil, err
	}
	made := joined(s, parts)
	if t, ok := list.(starlark.Tuple); ok && isCutTuple(t) {
		return boxed(cutBehind(made)), nil
	}
	return boxed(made), nil
}

// checkFormatted refuses s.format(…) for whose text there is no room: that of each argument counts as often as s
// names it.
func checkFormatted(th *starlark.Thread, s string, args starlark.Tuple, kwargs []starlark.Tuple) error {
	n := uint64(len(s))
	for v := range placed(s, args, kwargs) {
		n += uint64(len(textIn(v)))
	}
	if err := checkText(th, n); err != nil {
		return err
	}
	return asText.checkFilled(th, s, placed(s, args, kwargs))
}

// placed are the arguments of s.format(…), each as often as s names it.
func placed(s string, args starlark.Tuple, kwargs []starlark.Tuple) iter.Seq[starlark.Value] {
	return func(yield func(starlark.Value) bool) {
		for next, rest := 0, s; ; {
			_, place, found := strings.Cut(rest, "{")
			if !found {
				return
			}
			var escaped bool
			if rest, escaped = strings.CutPrefix(place, "{"); escaped {
				continue
			}
			name := place[:max(strings.IndexAny(place, "}!:{"), 0)]
			if name == "" {
				name, next = strconv.Itoa(next), next+1
			}
			if v := operandOf(name, args, kwargs); v != nil && !yield(v) {
				return
			}
		}
	}
}

// CheckPercent refuses format % operands for whose text there is no room: what has a name in the format counts as often
// as that has it.
func CheckPercent(th *starlark.Thread, format string, operands starlark.Value) error {
	return asText.checkFilled(th, format, func(yield func(starlark.Value) bool) {
		names, ok := operands.(starlark.Mapping)
		for rest := format; ok; {
			_, named, found := strings.Cut(rest, "%(")
			if !found {
				break
			}
			var name string
			if name, rest, found = strings.Cut(named, ")"); !found {
				break
			}
			if v, _, _ := names.Get(starlark.String(name)); v != nil && !yield(v) {
				return
			}
		}
		yield(operands)
	})
}

// operandOf is the argument of a name or a number, nil where there is none.
func operandOf(name string, args starlark.Tuple, kwargs []starlark.Tuple) starlark.Value {
	if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(args) {
		return args[i]
	}
	for _, kv := range kwargs {
		if kv[0] == starlark.String(name) {
			return kv[1]
		}
	}
	return nil
}

func formatMethod(th *starlark.Thread, _ *starlark.Builtin, s string, args starlark.Tuple, kwargs []starlark.Tuple) (
	starlark.Value, error) {
	if err := checkFormatted(th, s, args, kwargs); err != nil {
		return nil, err
	}
	operands := append([]starlark.Value{starlark.String(s)}, args...)
	for _, kv := range kwargs {
		operands = append(operands, kv[1])
	}
	return through(func(list []starlark.Value) (starlark.Value, error) {
		method, err := list[0].(starlark.String).Attr("format")
		if err != nil {
			return nil, err
		}
		named := make([]starlark.Tuple, len(kwargs))
		for i, kv := range kwargs {
			named[i] = starlark.Tuple{kv[0], list[1+len(args)+i]}
		}
		return starlark.Call(th, method, list[1:1+len(args)], named)
	}, operands...)
}

// codepointsMethod gives the characters of a text, of a byte that is none that byte.
func codepointsMethod(th *starlark.Thread, b *starlark.Builtin, s string, args starlark.Tuple,
	kwargs []starlark.Tuple) (starlark.Value, error) {
	plain, err := interpreters(th, b, args, kwargs)
	if err != nil {
		return nil, err
	}
	if utf8.ValidString(s) {
		return countedElements{plain, len(s)}, nil
	}
	return codepoints{plain, s}, nil
}

type codepoints struct {
	starlark.Value // the interpreter's
	s              string
}

var _ starlark.Iterable = codepoints{}

func (c codepoints) most() int { return len(c.s) }

// Iterate goes over the characters.
func (c codepoints) Iterate() starlark.Iterator {
	list := characters(c.s)
	elems := make(starlark.Tuple, len(list))
	for i, s := range list {
		elems[i] = starlark.String(s)
	}
	return elems.Iterate()
}

// A stepped is a string that is sliced with a step, whose bytes are copied.
type stepped struct{ text }

// Stepped is a value before it is sliced with a step.
func Stepped(v starlark.Value) starlark.Value {
	if s, ok := v.(starlark.String); ok && marksOf(string(s)).anyOwn(string(s)) {
		return stepped{s}
	}
	return v
}

// Slice is s[start:end:step].
func (s stepped) Slice(start, end, step int) starlark.Value {
	if step == 1 {
		return s.text[start:end]
	}
	known := marksOf(string(s.text))
	m := marks{all: known.all}
	var out []byte
	for i := start; step > 0 && i < end || step < 0 && i > end; i += step {
		if _, own := slices.BinarySearch(known.own, i); own {
			m.own = append(m.own, len(out))
		}
		out = append(out, s.text[i])
	}
	return marked(string(out), m)
}
