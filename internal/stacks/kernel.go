package stacks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/internal/until"
	"github.com/startrace/startrace/starlark/value"
)

// Names of the kernel's addresses in stacks, and the message that names were not read in time.

// Kernel names addresses of the kernel. It belongs to one goroutine.
type Kernel struct {
	messages *output.Messages
	wait     *until.Wait
	// room lets in who reads the symbols.
	room until.Room
	// Open reads the symbols; nil is kernel.OpenSymbols.
	Open func() (*kernel.Symbols, error)
	// symbols are those that were read last, nil before. They are current unless fresh is false: programs were loaded
	// since.
	symbols *kernel.Symbols
	fresh   bool
	// reading has the next ones, nil as long as nobody needs them.
	reading *until.Later[readSymbols]
	// late is how many addresses were named before the symbols were read.
	late uint64
}

type readSymbols struct {
	symbols *kernel.Symbols
	err     error
}

// Forget makes the symbols be read again: programs were loaded, whose names are
// needed to leave them out of stacks.
func (k *Kernel) Forget() { k.fresh, k.reading = false, nil }

// Read begins to read the symbols, so that they are there when they are asked for: on a slow machine that takes a
// second.
func (k *Kernel) Read() {
	if k.fresh || k.reading != nil {
		return
	}
	open := k.Open
	if open == nil {
		open = kernel.OpenSymbols
	}
	room := k.room
	k.reading = until.Compute(func() readSymbols {
		leave, err := room.Enter(mostKernelBytes)
		if err != nil {
			return readSymbols{nil, unreadNames("kernel functions", err)}
		}
		defer leave()
		symbols, err := open()
		if err != nil {
			err = fmt.Errorf("ksym: %w", err)
		}
		return readSymbols{symbols, err}
	})
}

// current gives the symbols. Where they are not read when the wait is over, it gives those from before, which may be
// none.
func (k *Kernel) current() *kernel.Symbols {
	if k.fresh {
		return k.symbols
	}
	k.Read()
	read, ok := k.reading.Value(k.wait)
	switch {
	case !ok:
		if k.late++; k.late == 1 {
			k.messages.Lackf("startrace: %s", lateNames("kernel functions"))
		}
	case read.err != nil:
		k.messages.Lackf("startrace: %v", read.err)
		k.symbols = &kernel.Symbols{}
	default:
		k.symbols = read.symbols
	}
	if ok {
		k.fresh, k.reading = true, nil
	}
	if k.symbols == nil {
		return &kernel.Symbols{}
	}
	return k.symbols
}

// late is how many addresses of the kernel and of programs were named before their names were read.
func (n *Names) late() uint64 { return n.Kernel.late + n.Processes.TooLate }

func lateNames(of string) string {
	return "the names of some " + of + " were not read in time, so their addresses are shown: give the end of the " +
		"run longer (--drain)"
}

// unreadNames is that there was no memory to read names.
func unreadNames(of string, why error) error {
	return fmt.Errorf("the names of %s are not read, so their addresses are shown: %w", of, why)
}

// Name names an address; without a symbol it is shown.
func (k *Kernel) Name(addr uint64) string { return k.Frame(addr).Name }

// Printed names an address as printk does with %ps, or with the offset in the code and its size, as with %pS.
func (k *Kernel) Printed(addr uint64, offset bool) string {
	symbols := k.current()
	f := frameOf(symbols, addr)
	text := f.Name
	if f.Name == "0x"+strconv.FormatUint(addr, 16) {
		return text
	}
	if offset {
		text += "+0x" + strconv.FormatUint(f.Offset, 16)
		if size := symbols.SizeAt(addr); size != 0 {
			text += "/0x" + strconv.FormatUint(size, 16)
		}
	}
	if f.Module != "" {
		text += " [" + f.Module + "]"
	}
	return text
}

// Frame finds an address; without a symbol its name is the address. The symbols
// are read when the first is asked for, if not before (Read): those of
// kernel.Facts may have been read before programs were loaded.
func (k *Kernel) Frame(addr uint64) value.Frame { return frameOf(k.current(), addr) }

// Caller finds the address to which a function of the kernel returns, whose name is callee. The call lies before the
// address, and may be the last instruction of its function, where what is called does not return: then another function
// begins at the address.
func (k *Kernel) Caller(addr uint64, callee string) value.Frame {
	f := k.Frame(addr)
	if f.Offset != 0 || addr == 0 || noCall(callee) || noReturn(f.Name) {
		return f
	}
	if _, _, ok := k.current().Find(addr - 1); ok {
		f = k.Frame(addr - 1)
		f.Addr, f.Offset = addr, f.Offset+1
	}
	return f
}

// noCall reports whether the code of a name was not called: the CPU came to it from the next frame of the stack, by an
// interrupt or a fault.
func noCall(name string) bool {
	return hasPrefix(name, "asm_", "el1h_", "el1t_", "nmi", "end_repeat_nmi", "error_entry", "paranoid_entry")
}

// noReturn reports whether an address at the begin of the code of a name was put into the place of a return address: to
// see the return, or for a task that has not run yet.
func noReturn(name string) bool {
	return strings.HasSuffix(name, "rethook_trampoline") || strings.HasSuffix(name, "kretprobe_trampoline") ||
		hasPrefix(name, "return_to_handler", "ret_from_fork")
}

func hasPrefix(name string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

func frameOf(symbols *kernel.Symbols, addr uint64) value.Frame {
	if sym, offset, ok := symbols.Find(addr); ok {
		return value.Frame{Name: sym.Name, Offset: offset, Module: sym.Module, Addr: addr}
	}
	return value.Frame{Name: "0x" + strconv.FormatUint(addr, 16), Addr: addr}
}
