package cfi_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/startrace/startrace/internal/cfi"
	"github.com/startrace/startrace/internal/elffile"
)

// BenchmarkRows: the GNU C library takes some 5 ms, the C compiler proper 60.
func BenchmarkRows(b *testing.B) {
	paths := []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/bin/python3"}
	if out, err := exec.Command("gcc", "-print-prog-name=cc1").Output(); err == nil {
		paths = append(paths, strings.TrimSpace(string(out)))
	}
	if path, err := os.Executable(); err == nil {
		paths = append(paths, path) // a program of Go
	}
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		b.Run(path[strings.LastIndex(path, "/")+1:], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f, err := elffile.Open(path, elffile.Options{})
				if err != nil {
					b.Fatal(err)
				}
				rows, err := cfi.Rows(f)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(rows)), "rows")
				f.Close()
			}
		})
	}
}

// BenchmarkDelve asks delve's package frame for the rules at the rows of the GNU C library, of which it gives one at a
// time. What it makes of them afterwards is not counted.
func BenchmarkDelve(b *testing.B) {
	f, err := elffile.Open("/lib/x86_64-linux-gnu/libc.so.6", elffile.Options{})
	if err != nil {
		b.Skip("needs the GNU C library of amd64")
	}
	defer f.Close()
	rows, err := cfi.Rows(f)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, _, err := f.Section(".eh_frame")
		if err != nil {
			b.Fatal(err)
		}
		list, err := frame.Parse(s.Data, binary.LittleEndian, 0, 8, s.Addr)
		if err != nil {
			b.Fatal(err)
		}
		list = frame.FrameDescriptionEntries{}.Append(list)
		for _, row := range rows {
			if entry, err := list.FDEForPC(row.Addr); err == nil {
				entry.EstablishFrame(row.Addr)
			}
		}
	}
}
