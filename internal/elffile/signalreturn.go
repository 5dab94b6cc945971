package elffile

import (
	"bytes"
	"debug/elf"
	"iter"
)

// Code to which handlers of signals return.
//
// A handler of signals returns to a few instructions that ask the kernel to go on where it was interrupted. They are
// known by their bytes.

// signalReturn are these instructions, by the machine. The GNU C library of arm64 takes those of the vDSO.
var signalReturn = map[elf.Machine][]byte{
	elf.EM_X86_64:  []byte("\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"), // mov $rt_sigreturn, %rax; syscall
	elf.EM_AARCH64: []byte("\x68\x11\x80\xd2\x01\x00\x00\xd4"),     // mov x8, #rt_sigreturn; svc #0
}

const (
	// signalPiece is how much code is looked through at a time.
	signalPiece = 256 << 10
	// maxSignalCode bounds what is looked through of a file.
	maxSignalCode = 512 << 20
)

// SignalReturns gives where such instructions begin and end in a file.
func SignalReturns(f *File) iter.Seq2[uint64, uint64] {
	want := signalReturn[f.Machine]
	return func(yield func(begin, end uint64) bool) {
		if want == nil {
			return
		}
		for addr, code := range codePieces(f, uint64(len(want)-1)) {
			for i := bytes.Index(code, want); i >= 0; i = bytes.Index(code, want) {
				end := i + len(want)
				if !yield(addr+uint64(i), addr+uint64(end)) {
					return
				}
				addr, code = addr+uint64(end), code[end:]
			}
		}
	}
}

// codePieces gives the code of a file in pieces with their addresses, each with so many bytes of the next one. A piece
// holds until the next one is asked for.
func codePieces(f *File, overlap uint64) iter.Seq2[uint64, []byte] {
	return func(yield func(addr uint64, code []byte) bool) {
		left := uint64(maxSignalCode)
		var room []byte
		for _, s := range f.CodeSections() {
			for at := s.Addr; at < s.End() && left >= signalPiece; at += min(signalPiece, s.End()-at) {
				piece, err := CodeInto(room, f, at, min(signalPiece+overlap, s.End()-at))
				if err != nil { // it is not loaded
					break
				}
				room, left = piece, left-signalPiece
				if !yield(at, piece) {
					return
				}
			}
		}
	}
}

// Alone reports whether a file needs no others: static programs, the dynamic linker, the vDSO.
func Alone(f *File) bool {
	libraries, err := f.Libraries()
	return f.Interp == "" && err == nil && len(libraries) == 0
}
