package infer_test

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/smallkernel"
)

// testFacts is a small kernel of fixed content, so that golden texts are the
// same on every machine.
func testFacts(t *testing.T) *kernel.Facts {
	t.Helper()
	return kernel.Open(kernel.Options{BTF: smallkernel.BTF(t, smallkernel.Types()...), TracefsPath: "testdata/tracefs",
		Symbols: testSymbols, Blacklist: testBlacklist})
}

func testBlacklist() (*kernel.Blacklist, error) {
	return kernel.ReadBlacklist(strings.NewReader("0xffffffff81000500-0xffffffff81000510\tdo_int3\n"))
}

func testSymbols() (*kernel.Symbols, error) {
	return kernel.ReadSymbols(strings.NewReader("ffffffff81000000 T start_kernel\nffffffff81001000 t shared_name\n" +
		"ffffffff81002000 t shared_name\nffffffff82000000 D jiffies\nffffffff82000106 d odd\n" +
		"ffffffff82000200 d twice\nffffffff82000300 d twice\n"))
}
