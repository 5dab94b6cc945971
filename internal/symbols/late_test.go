package symbols

import (
	"os"
	"reflect"
	"testing"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/until"
)

// A table that is not read when nobody waits any more leaves the place in the file, and gives the name later.
func TestTableThatComesLate(t *testing.T) {
	var wait until.Wait
	said := 0
	n := Namer{Wait: &wait, Late: func() { said++ }}
	addr := uint64(reflect.ValueOf(TestTableThatComesLate).Pointer())
	p := n.Process(os.Getpid())
	a := p.mapping(addr)
	at, ok := n.find(p, a)
	if !ok {
		t.Fatal("the program of the test was not found")
	}
	release := make(chan struct{})
	n.files.reading = map[fileVersion]*until.Later[*file]{a.version: until.Compute(func() *file {
		<-release
		f, err := elffile.Open(at.path, elffile.Options{})
		if err != nil {
			t.Error(err)
			return &file{}
		}
		defer f.Close()
		return newFile(f)
	})}
	wait.End()
	for range 2 {
		if f := n.Frame(os.Getpid(), addr); f.Function != "" || f.Path == "" {
			t.Errorf("got %v of a table that is not read", f)
		}
	}
	if said != 1 || n.TooLate != 2 {
		t.Errorf("said %d times of %d addresses", said, n.TooLate)
	}
	close(release)
	wait.Renew()
	const want = "github.com/startrace/startrace/internal/symbols.TestTableThatComesLate"
	if f := n.Frame(os.Getpid(), addr); f.Function != want {
		t.Errorf("got %v, want %s", f, want)
	}
}
