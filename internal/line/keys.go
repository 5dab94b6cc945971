package line

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Keys of terminals and what liner knows them as (`controls`, `sequences`).

// The blanks that stand for a newline and a tab inside of what liner edits.
// They are one column wide, and liner's words end at them.
const (
	innerNewline = '\u1680' // OGHAM SPACE MARK
	innerTab     = '\u205f' // MEDIUM MATHEMATICAL SPACE
)

var (
	intoLiner = strings.NewReplacer("\n", string(innerNewline), "\t", string(innerTab))
	fromLiner = strings.NewReplacer(string(innerNewline), "\n", string(innerTab), "\t")
	oddBlanks = strings.NewReplacer(string(innerNewline), " ", string(innerTab), " ")
)

// forLiner is text as liner edits it.
func forLiner(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, intoLiner.Replace(text))
}

const (
	interruptKey = 3 // Ctrl-C
	enterKey     = '\r'
	escapeKey    = 0x1b
)

// controls are the control keys that mean something to liner, with Enter and
// Ctrl-C. The others would only ring its bell.
var controls = map[byte]bool{
	1: true, 2: true, interruptKey: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 11: true, 12: true,
	enterKey: true, 14: true, 16: true, 18: true, 19: true, 20: true, 21: true, 23: true, 25: true, 127: true,
}

// sequences are what terminals send (xterm's ctlseqs, "PC-Style Function
// Keys"; ~ forms of VT220, O forms of application mode), and what liner knows
// it by.
var sequences = map[string]string{
	"[A": "[A", "[B": "[B", "[C": "[C", "[D": "[D", "OA": "[A", "OB": "[B", "OC": "[C", "OD": "[D",
	"[H": "[H", "[F": "[F", "OH": "[H", "OF": "[F", "[1~": "[H", "[4~": "[F", "[7~": "[H", "[8~": "[F",
	"[3~": "[3~", "[1;5C": "f", "[1;5D": "b", "[1;3C": "f", "[1;3D": "b",
	"b": "b", "f": "f", "d": "d", "y": "y", "\x7f": "\x7f", "\b": "\x7f",
}

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// A key is one key as liner gets it, or a paste.
type key struct {
	keys  string
	paste []byte // text; nil: no paste
}

// decode gives the first key of what a terminal sent, and its length: 0 where
// more is needed to tell.
func decode(b []byte) (k key, n int) {
	switch c := b[0]; {
	case c == escapeKey:
		return escape(b)
	case c == '\n':
		return key{keys: "\r"}, 1
	case c < 32 || c == 127:
		if !controls[c] {
			return key{}, 1
		}
		return key{keys: string(rune(c))}, 1
	case !utf8.FullRune(b):
		return key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 || unicode.IsControl(r) || r == innerNewline || r == innerTab {
		return key{}, n
	}
	return key{keys: string(b[:n])}, n
}

func escape(b []byte) (k key, n int) {
	if bytes.HasPrefix(b, pasteBegin) {
		end := bytes.Index(b, pasteEnd)
		if end < 0 {
			return key{}, 0
		}
		return key{paste: pasted(b[len(pasteBegin):end])}, end + len(pasteEnd)
	}
	if len(b) > 1 && b[1] < 32 && b[1] != '\b' { // Esc, and another key
		return key{}, 1
	}
	if n = sequenceLength(b); n == 0 {
		return key{}, 0
	}
	if known, ok := sequences[string(b[1:n])]; ok {
		k.keys = "\x1b" + known
	}
	return k, n
}

// pasted is the text of a paste: its lines end with Enter, and it has no other
// control characters.
func pasted(b []byte) []byte {
	text := strings.ReplaceAll(strings.ReplaceAll(strings.ToValidUTF8(string(b), ""), "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = forLiner(oddBlanks.Replace(line))
	}
	return []byte(strings.Join(lines, "\r"))
}

// sequenceLength is that of ESC [ parameters letter, ESC O letter, ESC letter
// (ECMA-48, 5.4), 0 where more is needed.
func sequenceLength(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case b[1] == 'O' && len(b) < 3:
		return 0
	case b[1] == 'O':
		return 3
	case b[1] != '[':
		return 2
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			return i + 1
		}
	}
	return 0
}
