package value

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/internal/escape"
)

// Texts that the interpreter makes of values keep what their strings know.

// Tags stand in strings while the interpreter makes a text of them, around each
// special character that is the script's, and where a string was cut. They survive
// quoting, and no string from outside has them, for nobody can guess them. What they
// begin with is no verb of a format.
var (
	tagText  = "<" + strconv.FormatUint(rand.Uint64()|1<<63, 16) + strconv.FormatUint(rand.Uint64()|1<<63, 16)
	tagCut   = tagText + "c>"
	tagBegin = tagText + "b>"
	tagEnd   = tagText + "e>"
)

// mostTags bounds what is tagged: of a text with more special characters none is known
// to be the script's.
const mostTags = 1 << 16

// through is what f makes of operands: a text of them, which knows what they know. All
// special characters of the text are those of the operands.
func through(f func([]starlark.Value) (starlark.Value, error), operands ...starlark.Value) (starlark.Value, error) {
	operands = listsMarked(operands)
	list := starlark.Tuple(operands)
	if cutStrings.Load() > 0 && holds(list, maxDepth, wasCut) {
		return throughTags(f, operands...)
	}
	v, err := f(operands)
	s, isText := v.(starlark.String)
	switch {
	case err != nil || !isText || !escape.Any(string(s)):
		return v, err
	case isOwn(list, maxDepth):
		return Own(string(s)), nil
	}
	return throughTags(f, operands...)
}

// throughTags is through for what has cut strings, foreign characters, or some that f
// makes by itself.
func throughTags(f func([]starlark.Value) (starlark.Value, error), operands ...starlark.Value) (starlark.Value, error) {
	operands = listsMarked(operands)
	tagged, ok := taggedAll(operands)
	if !ok {
		return f(operands)
	}
	v, err := f(tagged)
	if s, ok := v.(starlark.String); ok && err == nil {
		return boxed(untagged(string(s))), nil
	}
	return f(operands) // what a tag has broken, as a name within a format
}

// isOwn reports whether all special characters that texts of v can have are known to be
// the script's.
func isOwn(v starlark.Value, depth int) bool {
	if depth == 0 {
		return false
	}
	switch v := v.(type) {
	case starlark.String:
		return marksOf(string(v)).all
	case starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType, Bytes, faultType, moreElements,
		Stack:
		return true // a stack's line feeds are those between its frames
	case starlark.Tuple, *starlark.List, *starlark.Set, *starlark.Dict:
		return !slices.ContainsFunc(partsOf(v), func(e starlark.Value) bool { return !isOwn(e, depth-1) })
	}
	return false
}

// taggedAll are values with tags in their strings; false where that cannot be.
func taggedAll(operands []starlark.Value) ([]starlark.Value, bool) {
	n := 0
	if holds(starlark.Tuple(operands), maxDepth, func(s string) bool {
		n += len(marksOf(s).owned(s))
		return false
	}); n > mostTags {
		return nil, false
	}
	list := make([]starlark.Value, len(operands))
	for i, v := range operands {
		if list[i] = tagged(v, maxDepth); list[i] == nil {
			return nil, false
		}
	}
	return list, true
}

// tagged is v with tags in its strings, nil where that cannot be.
func tagged(v starlark.Value, depth int) starlark.Value {
	withTags := func(s string) starlark.Value { return starlark.String(withTags(s, marksOf(s))) }
	out, err := texts{withTags, taggedLeaf, nil}.of(v, depth)
	if err != nil {
		return nil
	}
	if d, ok := v.(*starlark.Dict); ok {
		return taggedDict{out.(*starlark.Dict), d}
	}
	return out
}

// taggedLeaf is a value that has no strings. The line feeds in the text of a stack stand
// between its frames, in which there are none.
func taggedLeaf(v starlark.Value) starlark.Value {
	if s, ok := v.(Stack); ok {
		return taggedStack{s}
	}
	return v
}

type taggedStack struct{ Stack }

func (s taggedStack) String() string { return withTags(s.Stack.String(), plainMarks) }

// A taggedDict is a dict with tags that is found by the keys without.
type taggedDict struct {
	*starlark.Dict
	plain *starlark.Dict
}

// Get is for the names of a format.
func (d taggedDict) Get(k starlark.Value) (starlark.Value, bool, error) {
	v, found, err := d.plain.Get(k)
	if found && err == nil {
		if v = tagged(v, maxDepth); v == nil {
			found = false
		}
	}
	return v, found, err
}

func withTags(s string, m marks) string {
	own := m.owned(s)
	if len(m.cuts) == 0 && len(own) == 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i <= len(s); {
		if len(m.cuts) > 0 && m.cuts[0] == i {
			b.WriteString(tagCut)
			m.cuts = m.cuts[1:]
		}
		if i == len(s) {
			break
		}
		size := 1
		if len(own) > 0 && own[0] == i {
			_, size = utf8.DecodeRuneInString(s[i:])
			b.WriteString(tagBegin + s[i:i+size] + tagEnd)
			own = own[1:]
		} else {
			b.WriteByte(s[i])
		}
		i += size
	}
	return b.String()
}

// untagged is the string that a text with tags stands for.
func untagged(s string) starlark.String {
	a := newAssembly(len(s))
	own := false
	for {
		i := strings.Index(s, tagText)
		end := i
		if i < 0 {
			end = len(s)
		}
		_, size := utf8.DecodeRuneInString(s[:end])
		a.addKnown(s[:end], marks{all: own && size == end})
		if i < 0 {
			return a.string()
		}
		tag := s[i : i+len(tagCut)]
		if own = tag == tagBegin; tag == tagCut {
			a.addKnown("", marks{cuts: []int{0}, all: true})
		}
		s = s[i+len(tagCut):]
	}
}

// plainText is a string without tags.
func plainText(s starlark.String) string {
	if !strings.Contains(string(s), tagText) {
		return string(s)
	}
	return string(untagged(string(s)))
}
