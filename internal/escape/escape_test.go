package escape

import (
	"bytes"
	"encoding/json"
	"testing"
)

// What an encoder of package json leaves in strings acts on no terminal either, and its text means the same.
func TestJSONEncoder(t *testing.T) {
	const name = "a\x7f\u009b\u202e\n\x1bé"
	var b bytes.Buffer
	if err := JSONEncoder(&b).Encode(name); err != nil {
		t.Fatal(err)
	}
	var back string
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != name {
		t.Errorf("%q comes back as %q, %v", b.String(), back, err)
	}
	if line := b.String()[:b.Len()-1]; Any(line) {
		t.Errorf("%q has special characters", line)
	}
}

// Names in a message stay on their line.
func TestArgs(t *testing.T) {
	if got := Args([]any{"a\nb", 3}); got[0] != `a\nb` || got[1] != 3 {
		t.Errorf("got %q", got)
	}
}
