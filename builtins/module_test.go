package builtins

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// What json.encode and json.encode_indent write of any string is JSON, which other readers take for that string.
func TestEncodedIsJSON(t *testing.T) {
	texts := []string{`\`, `a\b"c`, "é😀\u202e\u2028\ufffd"}
	for r := rune(0); r < 0x180; r++ {
		texts = append(texts, "a"+string(r)+`\\"`+string(r)+"b", "é"+string(r)+`\"中`+string(r))
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
			if strings.Contains(written, "\x7f") {
				t.Errorf("%s of %q: %q has a DEL, of which print makes what is no JSON", name, text, written)
			}
			if err := json.Unmarshal([]byte(written), &got); err != nil || len(got) != 1 || got[0] != text {
				t.Errorf("%s of %q: %s, which is %q, %v", name, text, written, got, err)
			}
		}
	}
}

// What is no number, and what has no end, is the text that --format json has for it, wherever it stands in a value.
//
// > What is no number is shown as `nan` everywhere, in JSON as the string `"nan"`.
func TestEncodedFloats(t *testing.T) {
	for f, want := range map[float64]string{math.NaN(): `"nan"`, math.Inf(1): `"+inf"`, math.Inf(-1): `"-inf"`,
		1.5: "1.5"} {
		float := starlark.Float(f)
		in := starlark.NewDict(1)
		if err := in.SetKey(starlark.String("k"), starlark.Tuple{float}); err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			v    starlark.Value
			want string
		}{
			{float, want}, {starlark.NewList([]starlark.Value{float}), "[" + want + "]"}, {in, `{"k":[` + want + `]}`},
			{value.NewRecord([]string{"a"}, []starlark.Value{float}), `{"a":` + want + `}`},
		} {
			got, err := starlark.Call(new(starlark.Thread), jsonModule.Members["encode"], starlark.Tuple{x.v}, nil)
			if text, _ := starlark.AsString(got); err != nil || text != x.want {
				t.Errorf("json.encode(%v): %v, %v, want %s", x.v, got, err, x.want)
			}
		}
	}
}
