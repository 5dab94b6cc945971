package kernel

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// What lists the functions of a kernel takes little more while it does so than the list has.
func TestFunctionsAreListedInLittleRoom(t *testing.T) {
	const begin = 1 << 62
	const functions, each = 90000, 48 + 60 // an entry of the list, and its text
	var filter, symbols strings.Builder
	for i := range functions {
		fmt.Fprintf(&filter, "some_function_of_kernel_%06d [module%d]\n", i, i%7)
		fmt.Fprintf(&symbols, "%016x t some_function_of_kernel_%06d\t[module%d]\n", uint64(begin+16*i), i, i%7)
	}
	read, err := ReadSymbols(strings.NewReader(symbols.String()))
	if err != nil {
		t.Fatal(err)
	}
	eighth := FunctionName{Name: "some_function_of_kernel_000008", Module: "module1"}
	for name, list := range map[string]func() ([]FunctionName, error){
		"of ftrace": func() ([]FunctionName, error) {
			return readFilterFunctions(strings.NewReader(filter.String()))
		},
		"of symbols": func() ([]FunctionName, error) { return read.functions(), nil },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := list()
		runtime.ReadMemStats(&after)
		if err != nil || len(got) != functions || got[8] != eighth {
			t.Fatalf("%s: %d functions, %v, %v", name, len(got), got[:min(9, len(got))], err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > functions*each {
			t.Errorf("%s: %d bytes were taken for %d functions, want at most %d", name, took, functions, functions*each)
		}
	}
}

// The symbols of a large kernel take little more while they are read than they have, and those of each text are found.
func TestSymbolsAreReadInLittleRoom(t *testing.T) {
	const begin, symbols, each = 1 << 62, 230000, 13 + 30
	const most = symbols*each + symbols*each/4
	var text strings.Builder
	for i := range symbols {
		fmt.Fprintf(&text, "%016x t some_function_of_kernel_%06d\n", uint64(begin+16*i), i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := ReadSymbols(strings.NewReader(text.String()))
	runtime.ReadMemStats(&after)
	if err != nil || len(got.addrs) != symbols {
		t.Fatal(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > most {
		t.Errorf("%d bytes were taken for %d symbols, want at most %d", took, symbols, most)
	}
	for i := range symbols {
		want := fmt.Sprintf("some_function_of_kernel_%06d", i)
		if s := got.at(i); s.Name != want || s.Addr != uint64(begin+16*i) {
			t.Fatalf("symbol %d is %+v, want %s", i, s, want)
		}
	}
}
