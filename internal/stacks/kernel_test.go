package stacks

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/until"
)

// Symbols that are not read when nobody waits any more leave addresses, which is said once. Those from before do for as
// long as newer ones are read.
func TestSymbolsThatComeLate(t *testing.T) {
	var said bytes.Buffer
	var wait until.Wait
	k := New(&output.Messages{W: &said, Quiet: true}, &wait).Kernel
	release := make(chan string)
	k.Open = func() (*kernel.Symbols, error) { return kernel.ReadSymbols(strings.NewReader(<-release)) }
	named := func(addr uint64, want string) {
		t.Helper()
		if got := k.Name(addr); got != want {
			t.Errorf("%#x: %s, want %s", addr, got, want)
		}
	}
	wait.End()
	named(0xffffffff81000004, "0xffffffff81000004")
	named(0xffffffff81000104, "0xffffffff81000104")
	if text := said.String(); strings.Count(text, "names of some kernel functions were not read in time") != 1 {
		t.Errorf("said %q", text)
	}
	release <- "ffffffff81000000 T vfs_read\n"
	wait.Renew()
	named(0xffffffff81000004, "vfs_read")
	k.Forget()
	wait.End()
	named(0xffffffff81000004, "vfs_read")
	release <- "ffffffff81000000 T vfs_read\nffffffff81000100 t bpf_prog_1\n"
	wait.Renew()
	named(0xffffffff81000104, "bpf_prog_1")
	if k.late != 3 {
		t.Errorf("%d addresses were late, want 3", k.late)
	}
}

// Where there is no room to read symbols, addresses stay, which is said once, also to who wants no messages, and
// nothing is read.
func TestNoRoomForSymbols(t *testing.T) {
	var said bytes.Buffer
	n := New(&output.Messages{W: &said, Quiet: true}, nil)
	n.SetRoom(func(uint64) (func(), error) { return nil, errors.New("no room") })
	n.Kernel.Open = func() (*kernel.Symbols, error) {
		t.Error("the symbols are read")
		return nil, nil
	}
	for range 2 {
		if got := n.Kernel.Name(0xffffffff81000004); got != "0xffffffff81000004" {
			t.Errorf("got %s", got)
		}
	}
	want := "startrace: the names of kernel functions are not read, so their addresses are shown: no room\n"
	if said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}
