package builtins

import (
	"encoding/json"
	"testing"

	"go.starlark.net/starlark"
)

// What json.encode and json.encode_indent write of any string is JSON, which other readers take for that string.
func TestEncodedIsJSON(t *testing.T) {
	texts := []string{`\`, `a\b"c`, "é😀\u202e\u2028\ufffd"}
	for r := rune(0); r < 0x180; r++ {
		texts = append(texts, "a"+string(r)+`\\"`+string(r)+"b")
	}
	for _, name := range []string{"encode", "encode_indent"} {
		for _, text := range texts {
			args := starlark.Tuple{starlark.NewList([]starlark.Value{starlark.String(text)})}
			v, err := starlark.Call(new(starlark.Thread), jsonModule.Members[name], args, nil)
			if err != nil {
				t.Errorf("%s of %q: %v", name, text, err)
				continue
			}
			written, _ := starlark.AsString(v)
			var got []string
			if err := json.Unmarshal([]byte(written), &got); err != nil || len(got) != 1 || got[0] != text {
				t.Errorf("%s of %q: %s, which is %q, %v", name, text, written, got, err)
			}
		}
	}
}
