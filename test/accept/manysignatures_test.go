package accept

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/setting"
	"github.com/startrace/startrace/test/target"
)

// TestManySignatures is TestRandomSignatures for both compilers at all levels of optimization: SIGNATURES_PROGRAMS
// programs for each of them, from SIGNATURES_SEED on, of SIGNATURES_FUNCTIONS functions.
//
//	SIGNATURES_PROGRAMS=5 go test ./test/accept -run TestManySignatures -v
func TestManySignatures(t *testing.T) {
	needTracing(t)
	need.Long(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64: the classes of structs that the programs print are of its ABI")
	}
	first, programs := setting.Int(t, "SIGNATURES_SEED", 100), setting.Int(t, "SIGNATURES_PROGRAMS", 1)
	n := setting.Int(t, "SIGNATURES_FUNCTIONS", moreOf(20))
	for seed := range programs {
		seed := uint64(first + seed)
		for level := range 4 {
			for _, lang := range []struct {
				command, file string
				of            func(seed uint64, n int) target.Calls
			}{
				{"gcc -w -g", "calls.c", ofC}, {"clang -w -g", "calls.c", ofC},
				{"g++ -w -g", "calls.cc", target.RandomCpp},
				{"clang++ -w -g -std=c++17 -fstandalone-debug", "calls.cc", target.RandomCpp},
			} {
				command := fmt.Sprintf("%s -O%d", lang.command, level)
				t.Run(fmt.Sprintf("%s, seed %d", command, seed), func(t *testing.T) {
					checkCalls(t, lang.of(seed, n), lang.file, "", command)
				})
			}
		}
		for _, command := range []string{"go build", "go build -gcflags=-l"} {
			t.Run(fmt.Sprintf("%s, seed %d", command, seed), func(t *testing.T) {
				checkCalls(t, target.RandomGo(seed, n), "calls.go", "main.", command)
			})
		}
	}
}

func ofC(seed uint64, n int) target.Calls { return target.RandomC(seed, n, false) }
