package output

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// One write to a pipe that may be given up.

// A sending is one write that may be given up while it waits for who reads, and then knows how much was taken. Into a
// pipe it writes pieces that the kernel takes whole or not at all, each once there is room: so nothing is under way
// when it is given up. Lines stay whole, where a piece has room for one.
type sending struct {
	w    io.Writer
	rest []byte       // what is still to be written; who writes has it
	left atomic.Int64 // how many bytes that are

	turn  chan struct{} // has one element during the write of a piece
	given atomic.Bool   // up: no further piece is written
}

func newSending(w io.Writer, text []byte) *sending {
	s := &sending{w: w, rest: text, turn: make(chan struct{}, 1)}
	s.left.Store(int64(len(text)))
	return s
}

// wholePiece is what a pipe takes whole or not at all (PIPE_BUF, pipe(7)).
const wholePiece = 4096

// send writes all that is there, unless it is given up.
func (s *sending) send() error {
	f, piped := pipeOf(s.w)
	for more := true; more; {
		room := !piped || hasRoom(f)
		var err error
		if more, err = s.piece(room, piped); err != nil {
			return err
		}
	}
	return nil
}

// piece writes a piece if there is room, and reports whether there is more to be done.
func (s *sending) piece(room, piped bool) (more bool, err error) {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if given := s.given.Load(); given || !room {
		return !given, nil
	}
	text := s.rest
	if piped {
		text = firstPiece(text)
	}
	n, err := s.w.Write(text)
	s.rest = s.rest[n:]
	s.left.Store(int64(len(s.rest)))
	return len(s.rest) > 0, err
}

// firstPiece is the beginning of a text that goes into a pipe at once: whole lines, if the first one is not too long.
func firstPiece(text []byte) []byte {
	if len(text) <= wholePiece {
		return text
	}
	text = text[:wholePiece]
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
		return text[:end+1]
	}
	return text
}

// pieceWait is how long a piece that is being written is waited for: a process that other ones keep from running may
// stand just there.
const pieceWait = time.Second

// giveUp ends the sending, and gives how many bytes were not taken. A piece for which a pipe has room is waited for. A
// write that does not end, into what is no pipe, counts as not taken.
func (s *sending) giveUp() (left int) {
	s.given.Store(true)
	wait := time.Duration(0)
	if _, piped := pipeOf(s.w); piped {
		wait = pieceWait
	}
	select {
	case s.turn <- struct{}{}:
		<-s.turn
	case <-time.After(wait):
	}
	return int(s.left.Load())
}

// pipeOf gives the file of a writer that is a pipe.
func pipeOf(w io.Writer) (f *os.File, is bool) {
	f, is = w.(*os.File)
	if !is {
		return nil, false
	}
	info, err := f.Stat()
	return f, err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

// roomWait is how long the wait for room in a pipe goes on before it is asked whether anybody still wants it.
const roomWait = 50 * time.Millisecond

// hasRoom waits for a while until a pipe has room for a piece, or its reader has gone, and reports whether that is so.
// Another goroutine may close the file meanwhile.
func hasRoom(f *os.File) (room bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return true // the write tells
	}
	err = conn.Control(func(fd uintptr) {
		list := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		n, err := unix.Poll(list, int(roomWait/time.Millisecond))
		room = n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	return room || err != nil
}
