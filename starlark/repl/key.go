package repl

import (
	"bytes"
	"unicode/utf8"
)

// A Code is what a key does; Text is for Insert and Paste.
type Code uint8

// The codes.
const (
	None Code = iota
	Insert
	Paste
	Enter
	Tab
	Interrupt // Ctrl-C
	End       // Ctrl-D
	Left
	Right
	WordLeft
	WordRight
	Home
	LineEnd
	Previous
	Following
	Backspace
	Delete
	KillWord     // before the cursor
	KillNextWord // behind it
	KillToEnd
	KillToStart
	Yank
	ClearScreen
	Search
	Cancel // Ctrl-G
)

// A Key is one key, or a paste.
type Key struct {
	Code Code
	Text string
}

var controls = map[byte]Code{
	1: Home, 2: Left, 3: Interrupt, 4: End, 5: LineEnd, 6: Right, 7: Cancel, 8: Backspace, 9: Tab, 10: Enter,
	11: KillToEnd,
	12: ClearScreen, 13: Enter, 14: Following, 16: Previous, 18: Search, 21: KillToStart, 23: KillWord, 25: Yank,
	127: Backspace,
}

// Sequences after ESC, as terminals send them (xterm's ctlseqs, "PC-Style
// Function Keys"; ~ forms of VT220, OH and OF of application mode).
var sequences = map[string]Code{
	"[A": Previous, "[B": Following, "[C": Right, "[D": Left, "OA": Previous, "OB": Following, "OC": Right, "OD": Left,
	"[H": Home, "[F": LineEnd, "OH": Home, "OF": LineEnd, "[1~": Home, "[4~": LineEnd, "[7~": Home, "[8~": LineEnd,
	"[3~": Delete, "[1;5C": WordRight, "[1;5D": WordLeft, "[1;3C": WordRight, "[1;3D": WordLeft,
	"b": WordLeft, "f": WordRight, "d": KillNextWord, "\x7f": KillWord, "\b": KillWord,
}

var (
	pasteBegin = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// Decode gives the first key of what a terminal sent, and its length: 0 where
// more is needed to tell.
func Decode(b []byte) (Key, int) {
	switch {
	case len(b) == 0:
		return Key{}, 0
	case b[0] == 0x1b:
		return escape(b)
	case b[0] < 32 || b[0] == 127:
		return Key{Code: controls[b[0]]}, 1
	case !utf8.FullRune(b):
		return Key{}, 0
	}
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n == 1 {
		return Key{}, 1
	}
	return Key{Insert, string(b[:n])}, n
}

func escape(b []byte) (Key, int) {
	if bytes.HasPrefix(b, pasteBegin) {
		end := bytes.Index(b, pasteEnd)
		if end < 0 {
			return Key{}, 0
		}
		text := bytes.ReplaceAll(b[len(pasteBegin):end], []byte("\r\n"), []byte("\n"))
		return Key{Paste, string(bytes.ReplaceAll(text, []byte("\r"), []byte("\n")))}, end + len(pasteEnd)
	}
	n := sequenceLength(b)
	if n == 0 {
		return Key{}, 0
	}
	return Key{Code: sequences[string(b[1:n])]}, n
}

// sequenceLength is that of ESC [ parameters letter, ESC O letter, ESC letter
// (ECMA-48, 5.4).
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
