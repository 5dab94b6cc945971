package escape

import (
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"
)

// Strings of JSON, harmless to terminals.

// AppendJSON appends a string as JSON has it. What acts on a terminal or on the text around
// it is escaped, so that all output is one line of text. Bytes that are not UTF-8 are there
// in a form that keeps strings apart (Bytes).
func AppendJSON(dst []byte, s string) []byte { return AppendJSONText(dst, Bytes(s)) }

// AppendJSONText is AppendJSON of text that has been escaped for people already.
func AppendJSONText(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf || c == 0x7f {
			quoted, _ := json.Marshal(s) // a string cannot fail
			return appendJSONText(dst, string(quoted))
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// appendJSONText appends JSON with escapes for the special characters that encoders leave in
// strings: DEL, those of C1, changes of direction. Line feeds stand between the parts.
func appendJSONText(dst []byte, text string) []byte {
	from := 0
	for at, size := Next(text, 0); at >= 0; at, size = Next(text, at+size) {
		r, _ := utf8.DecodeRuneInString(text[at:])
		if r == '\n' {
			continue
		}
		dst = fmt.Appendf(append(dst, text[from:at]...), `\u%04x`, r)
		from = at + size
	}
	return append(dst, text[from:]...)
}

// JSONEncoder gives an encoder that writes values so that they act on no terminal, each in a line.
func JSONEncoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(jsonWriter{w})
	enc.SetEscapeHTML(false) // HTML is not where it is read
	return enc
}

// A jsonWriter takes what an encoder of package json writes, and writes it so that it acts on
// no terminal.
type jsonWriter struct {
	W io.Writer // takes the text
}

func (w jsonWriter) Write(text []byte) (int, error) {
	if _, err := w.W.Write(appendJSONText(nil, string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Args gives the arguments of a message with all strings as one line: names of files and
// functions come from others.
func Args(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a
		if s, ok := a.(string); ok {
			out[i] = Line(s)
		}
	}
	return out
}
