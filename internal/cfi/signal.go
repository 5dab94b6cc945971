package cfi

import (
	"bytes"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// A handler of signals returns to a few instructions that ask the kernel to go on where it was interrupted. The frame
// above them is the kernel's. The GNU C library of amd64 says so in its call frame information; Go, musl and the vDSO
// of arm64 do not, so that debuggers know these instructions by their bytes.

// goNote is a section that all programs of Go have, also those that were stripped.
const goNote = ".note.go.buildid"

const (
	// signalPiece is how much code is looked through at a time.
	signalPiece = 256 << 10
	// maxSignalCode bounds what is looked through of a file.
	maxSignalCode = 512 << 20
)

// signalReturns are the rows of such instructions: in files that may have their own, which are Go's programs and files
// that need no others.
func signalReturns(f *elffile.File, a *arch, code []elffile.CodeSection) *table {
	t := &table{}
	if _, golang, _ := f.Section(goNote); !golang && !alone(f) {
		return t
	}
	left, overlap := uint64(maxSignalCode), uint64(len(a.signalReturn)-1)
	var room []byte
	for _, s := range code {
		for at := s.Addr; at < s.End() && left >= signalPiece; at += min(signalPiece, s.End()-at) {
			piece, err := elffile.CodeInto(room, f, at, min(signalPiece+overlap, s.End()-at))
			if err != nil { // it is not loaded
				break
			}
			a.signalReturns(t, at, piece)
			room = piece
			left -= signalPiece
		}
	}
	return t
}

func (a *arch) signalReturns(t *table, addr uint64, code []byte) {
	for {
		i := bytes.Index(code, a.signalReturn)
		if i < 0 {
			return
		}
		begin := addr + uint64(i)
		from := begin - min(a.nop, begin)
		if n := len(t.rows); n > 0 {
			from = max(from, t.rows[n-1].Addr)
		}
		n := i + len(a.signalReturn)
		addr, code = addr+uint64(n), code[n:]
		t.add(from, wire.UnwindSignal)
		t.add(addr, uncovered)
	}
}
