package stacks

import (
	"strconv"

	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/output"
	"github.com/startrace/startrace/starlark/value"
)

// Kernel names addresses of the kernel.
type Kernel struct {
	messages *output.Messages
	symbols  *kernel.Symbols // nil until one is asked for, since programs were loaded last
}

// Forget makes the symbols be read again: programs were loaded, whose names are
// needed to leave them out of stacks.
func (k *Kernel) Forget() { k.symbols = nil }

// Name names an address; without a symbol it is shown.
func (k *Kernel) Name(addr uint64) string { return k.Frame(addr).Name }

// Printed names an address as printk does with %ps, or with the offset in the code and its size, as with %pS.
func (k *Kernel) Printed(addr uint64, offset bool) string {
	f := k.Frame(addr)
	text := f.Name
	if f.Name == "0x"+strconv.FormatUint(addr, 16) {
		return text
	}
	if offset {
		text += "+0x" + strconv.FormatUint(f.Offset, 16)
		if size := k.symbols.SizeAt(addr); size != 0 {
			text += "/0x" + strconv.FormatUint(size, 16)
		}
	}
	if f.Module != "" {
		text += " [" + f.Module + "]"
	}
	return text
}

// Frame finds an address; without a symbol its name is the address. The symbols
// are read when the first is asked for (see kernel.OpenSymbols): those of
// kernel.Facts may have been read before programs were loaded.
func (k *Kernel) Frame(addr uint64) value.Frame {
	if k.symbols == nil {
		symbols, err := kernel.OpenSymbols()
		if err != nil {
			k.messages.Sayf("startrace: ksym: %v", err)
			symbols = &kernel.Symbols{}
		}
		k.symbols = symbols
	}
	if sym, offset, ok := k.symbols.Find(addr); ok {
		return value.Frame{Name: sym.Name, Offset: offset, Module: sym.Module, Addr: addr}
	}
	return value.Frame{Name: "0x" + strconv.FormatUint(addr, 16), Addr: addr}
}
