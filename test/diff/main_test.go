package diff

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/startrace/startrace/test/resident"
)

// garbage is how much the heap grows until it is collected, in percent. Compiling thousands of programs one after the
// other leaves much garbage behind and keeps little: with Go's 100 a third of the time goes into collecting it.
const garbage = 800

func TestMain(m *testing.M) {
	resident.InGuest()
	debug.SetGCPercent(garbage)
	if name := os.Getenv(runCarriedFile); name != "" {
		if err := runCarried(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}
