package cfi

import (
	"bytes"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/wire"
)

// A handler of signals returns to a few instructions that ask the kernel to go on where it was interrupted. The frame
// above them is the kernel's. The GNU C library of amd64 says so in its call frame information; Go, musl and the vDSO
// of arm64 do not, so that debuggers know these instructions by their bytes.

// signalPiece is how much code is looked through at a time.
const signalPiece = 1 << 20

// signalReturns are the rows of such instructions: in files that may have their own, which are Go's programs and files
// that need no others.
func signalReturns(f *elffile.File, a *arch, code []elffile.CodeSection) (*table, error) {
	t := &table{}
	if _, golang, _ := f.Section(".note.go.buildid"); !golang && !alone(f) {
		return t, nil
	}
	for _, s := range code {
		for at := s.Addr; at < s.End(); at += signalPiece {
			piece, err := f.Code(at, min(signalPiece+uint64(len(a.signalReturn)), s.End()-at))
			if err != nil {
				return t, err
			}
			a.signalReturns(t, at, piece)
		}
	}
	return t, nil
}

func (a *arch) signalReturns(t *table, addr uint64, code []byte) {
	for {
		i := bytes.Index(code, a.signalReturn)
		if i < 0 {
			return
		}
		begin := addr + uint64(i)
		n := i + len(a.signalReturn)
		t.add(begin-a.nop, wire.UnwindSignal)
		t.add(addr+uint64(n), uncovered)
		addr, code = addr+uint64(n), code[n:]
	}
}
