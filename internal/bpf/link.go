package bpf

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// Links by cilium's package link: raw tracepoints, tracing, iterators, kprobe_multi.

// A Link keeps a program attached until it is closed.
type Link interface {
	// Close detaches the program.
	Close() error
}

// ENOTSUPP is an answer that the kernel means for itself (include/linux/errno.h).
const ENOTSUPP = unix.Errno(524)

// plain is the kernel's answer in an error of package link or ebpf, whose own words are about their
// options and the features that they tested. They say of some answers only what they take them for:
// of ESRCH that something does not exist.
func plain(err error) error {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno
	case errors.Is(err, fs.ErrNotExist):
		return unix.ESRCH
	case errors.Is(err, link.ErrNotSupported):
		return unix.EOPNOTSUPP
	}
	return err
}

// opened is what a function of package link gives, with the error in the kernel's words.
func opened[L Link](l L, err error) (Link, error) {
	if err != nil {
		return nil, plain(err)
	}
	return l, nil
}

// AttachRawTracepoint attaches a program (RawTracepoint) to a raw tracepoint.
func AttachRawTracepoint(name string, p *ebpf.Program) (Link, error) {
	return opened(link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: p}))
}

// AttachTracing attaches a program (Tracing, LSM) to the function that it was loaded for.
func AttachTracing(p *ebpf.Program) (Link, error) {
	attach := func() (link.Link, error) { return link.AttachTracing(link.TracingOptions{Program: p}) }
	if p.Type() == ebpf.LSM {
		attach = func() (link.Link, error) { return link.AttachLSM(link.LSMOptions{Program: p}) }
	}
	l, err := attach()
	if errors.Is(err, link.ErrNotSupported) {
		return nil, ENOTSUPP // for which link has a word of its own
	}
	return opened(l, err)
}

// OpenIterator attaches an iterator program (Tracing, AttachTraceIter) and gives what runs it for each object when it
// is read. m is the map whose elements are the objects, for a program for the kernel's function bpf_iter_bpf_map_elem
// (5.10); nil for all others (5.8).
func OpenIterator(p *ebpf.Program, m *ebpf.Map) (io.ReadCloser, error) {
	it, err := link.AttachIter(link.IterOptions{Program: p, Map: m})
	if err != nil {
		return nil, plain(err)
	}
	r, err := it.Open() // keeps the link alive
	if closing := it.Close(); err == nil && closing != nil {
		err = errors.Join(closing, r.Close())
	}
	if err != nil {
		return nil, plain(err)
	}
	return r, nil
}

// A KprobeLink is a kind of links to many kernel functions.
type KprobeLink uint8

// The kinds of links. A program of KprobeSession runs at the return of a call only
// where it has given 0 at the entry.
const (
	KprobeMulti   KprobeLink = iota // at the entry; 5.18
	KprobeReturns                   // at the return; 5.18
	KprobeSession                   // at both; 6.10
)

// AttachType is what the link's program is loaded for.
func (k KprobeLink) AttachType() ebpf.AttachType {
	if k == KprobeSession {
		return ebpf.AttachTraceKprobeSession
	}
	return ebpf.AttachTraceKprobeMulti
}

// LinkKprobes attaches a program to kernel functions by name. The kernel refuses
// all of them (ENOENT, ESRCH) if there is one that it does not know or cannot
// trace.
func LinkKprobes(p *ebpf.Program, kind KprobeLink, names []string, cookies []uint64) (Link, error) {
	o := link.KprobeMultiOptions{Symbols: names, Cookies: cookies, Session: kind == KprobeSession}
	if kind == KprobeReturns {
		return opened(link.KretprobeMulti(p, o))
	}
	return opened(link.KprobeMulti(p, o))
}

// Missed gives how many calls a link of LinkKprobes did not see: the kernel had no
// room to remember a call until its return, or was in another probe. Kernels before
// 6.7, and other links, do not count them: 0.
func Missed(l Link) (uint64, error) {
	kprobes, ok := l.(link.Link)
	if !ok {
		return 0, nil
	}
	info, err := kprobes.Info()
	if err != nil {
		return 0, fmt.Errorf("read what a link missed: %w", plain(err))
	}
	if of := info.KprobeMulti(); of != nil {
		return of.Missed, nil
	}
	return 0, nil
}
