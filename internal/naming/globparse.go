package naming

import "errors"

// How such a pattern is parsed.

var (
	errBrace   = errors.New("{ without }")
	errBracket = errors.New("[ without ]")
	errEscape  = errors.New(`ends in \`)
	errMany    = errors.New("too many alternatives")
)

// expandBraces writes out the braces of p. Escapes stay as they are.
func expandBraces(p string) ([]string, error) {
	open := indexTop(p, '{')
	if open < 0 {
		return []string{p}, nil
	}
	parts, end, err := splitBraces(p[open+1:])
	if err != nil {
		return nil, err
	}
	tails, err := expandBraces(p[open+1+end:])
	if err != nil {
		return nil, err
	}
	var out []string
	for _, part := range parts {
		mids, err := expandBraces(part)
		if err != nil {
			return nil, err
		}
		if len(out)+len(mids)*len(tails) > maxAlternatives {
			return nil, errMany
		}
		for _, mid := range mids {
			for _, tail := range tails {
				out = append(out, p[:open]+mid+tail)
			}
		}
	}
	return out, nil
}

// splitBraces cuts the text after a { at its commas; end is after its }.
func splitBraces(s string) (parts []string, end int, err error) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if n := bracketEnd(s[i:]); n > 0 {
				i += n - 1
			}
		case '{':
			depth++
		case ',':
			if depth == 0 {
				parts, from = append(parts, s[from:i]), i+1
			}
		case '}':
			if depth == 0 {
				return append(parts, s[from:i]), i + 1, nil
			}
			depth--
		}
	}
	return nil, 0, errBrace
}

// indexTop finds c outside of escapes and sets.
func indexTop(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case c:
			return i
		case '\\':
			i++
		case '[':
			if n := bracketEnd(s[i:]); n > 0 {
				i += n - 1
			}
		}
	}
	return -1
}

// bracketEnd gives the length of the set at the start of s, 0 if it is open.
// A ] directly after [ or [! belongs to the set.
func bracketEnd(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	for first := true; i < len(s); i, first = i+1, false {
		if s[i] == ']' && !first {
			return i + 1
		}
	}
	return 0
}

func compileFlat(p string) ([]globElem, error) {
	out := make([]globElem, 0, len(p))
	for i := 0; i < len(p); i++ {
		switch c := p[i]; c {
		case '?':
			out = append(out, globElem{kind: c})
		case '*':
			if n := len(out); n == 0 || out[n-1].kind != '*' {
				out = append(out, globElem{kind: c})
			}
		case '[':
			n := bracketEnd(p[i:])
			if n == 0 {
				return nil, errBracket
			}
			out = append(out, globElem{kind: '[', set: compileSet(p[i+1 : i+n-1])})
			i += n - 1
		case '\\':
			if i++; i == len(p) {
				return nil, errEscape
			}
			out = append(out, globElem{kind: 'c', c: p[i]})
		default:
			out = append(out, globElem{kind: 'c', c: c})
		}
	}
	return out, nil
}

// compileSet compiles the inside of a set.
func compileSet(s string) *[4]uint64 {
	var set [4]uint64
	not := s != "" && (s[0] == '!' || s[0] == '^')
	if not {
		s = s[1:]
	}
	for i := 0; i < len(s); i++ {
		lo, hi := s[i], s[i]
		if i+2 < len(s) && s[i+1] == '-' {
			hi = s[i+2]
			i += 2
		}
		for c := int(lo); c <= int(hi); c++ {
			set[c>>6] |= 1 << (c & 63)
		}
	}
	if not {
		for i := range set {
			set[i] = ^set[i]
		}
	}
	return &set
}

// EachOfBraces gives, for each text that stands in braces of a pattern, the pattern with that text in place of these
// braces: of `{a,b}_{c,d}` these are `a_{c,d}`, `b_{c,d}`, `{a,b}_c` and `{a,b}_d`. Braces in braces stay. It gives
// none of what is no pattern.
func EachOfBraces(p string) (out []string) {
	for from := 0; ; {
		open := indexTop(p[from:], '{')
		if open < 0 {
			return out
		}
		open += from
		parts, end, err := splitBraces(p[open+1:])
		if err != nil {
			return nil
		}
		from = open + 1 + end
		for _, part := range parts {
			if len(parts) > 1 {
				out = append(out, p[:open]+part+p[from:])
			}
		}
	}
}
