package binary

import (
	"testing"

	"github.com/startrace/startrace/internal/sourcefunc"
	"github.com/startrace/startrace/test/need"
)

// A function that is asked for again is not looked for again, is the same whatever the first caller made of the answer,
// and is forgotten with its file.
func TestAskedAgain(t *testing.T) {
	path := need.Built(t, compiler(t)+" -g -O2", "asked.c", `
static inline int twice(int n) { __asm__ volatile("nop"); return 2 * n; }
int main(int argc, char **argv) { (void)argv; return twice(argc) + twice(argc + 3); }
`)
	f := &Finder{}
	t.Cleanup(func() { _ = f.Close() })
	e, at, err := f.file(path)
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	ask := func() []*sourcefunc.Function {
		q := sourcefunc.Query{Text: "twice", Name: func(name string) bool { looked++; return name == "twice" }}
		found, err := f.find(at.Path, f.signatures(at.Path, e).Data(), q)
		if err != nil || len(found) != 1 || len(found[0].Copies) == 0 {
			t.Fatalf("found %v, %v", found, err)
		}
		return found
	}
	first := ask()
	once, copies := looked, len(first[0].Copies)
	clear(first[0].Copies)
	first[0].Copies = nil
	again := ask()
	if looked != once || len(again[0].Copies) != copies || again[0].Copies[0].Entry == 0 {
		t.Errorf("asked again: %d names were compared, want %d; %v", looked, once, again[0])
	}
	if err := f.Forget(at.Path); err != nil || len(f.asked) > 0 {
		t.Errorf("%d are kept of a file that is forgotten, %v", len(f.asked), err)
	}
}
