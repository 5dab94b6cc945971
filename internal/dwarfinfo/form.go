package dwarfinfo

import (
	"debug/dwarf"

	"github.com/startrace/startrace/internal/escape"
)

// The forms of attributes (DW_FORM_…), a row each, and what their values mean.

// A form is how an attribute's value is written (7.5.6).
type form uint16

// The forms.
const (
	formAddr          form = 0x01
	formBlock2        form = 0x03
	formBlock4        form = 0x04
	formData2         form = 0x05
	formData4         form = 0x06
	formData8         form = 0x07
	formString        form = 0x08
	formBlock         form = 0x09
	formBlock1        form = 0x0a
	formData1         form = 0x0b
	formFlag          form = 0x0c
	formSdata         form = 0x0d
	formStrp          form = 0x0e
	formUdata         form = 0x0f
	formRefAddr       form = 0x10
	formRef1          form = 0x11
	formRef2          form = 0x12
	formRef4          form = 0x13
	formRef8          form = 0x14
	formRefUdata      form = 0x15
	formIndirect      form = 0x16
	formSecOffset     form = 0x17
	formExprloc       form = 0x18
	formFlagPresent   form = 0x19
	formStrx          form = 0x1a
	formAddrx         form = 0x1b
	formRefSup4       form = 0x1c
	formStrpSup       form = 0x1d
	formData16        form = 0x1e
	formLineStrp      form = 0x1f
	formRefSig8       form = 0x20
	formImplicitConst form = 0x21
	formLoclistx      form = 0x22
	formRnglistx      form = 0x23
	formRefSup8       form = 0x24
	formStrx1         form = 0x25
	formStrx2         form = 0x26
	formStrx3         form = 0x27
	formStrx4         form = 0x28
	formAddrx1        form = 0x29
	formAddrx2        form = 0x2a
	formAddrx3        form = 0x2b
	formAddrx4        form = 0x2c
	// Those of gcc before DWARF 5, and of dwz.
	formGNUAddrIndex form = 0x1f01
	formGNUStrIndex  form = 0x1f02
	formGNURefAlt    form = 0x1f20
	formGNUStrpAlt   form = 0x1f21
)

// What a form is written in, where that is no fixed number of bytes.
const (
	inOffset  = -1 - iota // an offset of a section: 4 or 8 bytes
	inAddress             // an address
	inLEB                 // a LEB128
	inText                // bytes up to a NUL
	inBlock1              // a length of 1 byte, and as many bytes
	inBlock2
	inBlock4
	inBlockLEB
	inOther // DW_FORM_indirect: the form stands before the value
	unknownForm
)

// A class is what a value means (7.5.5).
type class uint8

const (
	classOther class = iota
	classAddress
	classConstant
	classFlag
	classBlock
	classText     // in the entry
	classStr      // an offset in .debug_str
	classLineStr  // an offset in .debug_line_str
	classStrIndex // an index in .debug_str_offsets
	classAddrIndex
	classReference // an offset in the unit
	classRefAddr   // an offset in .debug_info
	classOffset    // an offset in a section of lists
	classList      // an index of a list
	classSignature // of a type
	classRefShared // an offset in .debug_info of the file that several programs share
	classStrShared // an offset in its .debug_str
)

// forms says of each form how it is written, and what it means.
var forms = map[form]struct {
	written int
	class   class
}{
	formAddr:  {inAddress, classAddress},
	formData1: {1, classConstant}, formData2: {2, classConstant}, formData4: {4, classConstant},
	formData8: {8, classConstant}, formData16: {16, classBlock},
	formSdata: {inLEB, classConstant}, formUdata: {inLEB, classConstant}, formImplicitConst: {0, classConstant},
	formFlag: {1, classFlag}, formFlagPresent: {0, classFlag},
	formString: {inText, classText}, formStrp: {inOffset, classStr}, formLineStrp: {inOffset, classLineStr},
	formStrx: {inLEB, classStrIndex}, formStrx1: {1, classStrIndex}, formStrx2: {2, classStrIndex},
	formStrx3: {3, classStrIndex}, formStrx4: {4, classStrIndex}, formGNUStrIndex: {inLEB, classStrIndex},
	formBlock1: {inBlock1, classBlock}, formBlock2: {inBlock2, classBlock}, formBlock4: {inBlock4, classBlock},
	formBlock: {inBlockLEB, classBlock}, formExprloc: {inBlockLEB, classBlock},
	formRef1: {1, classReference}, formRef2: {2, classReference}, formRef4: {4, classReference},
	formRef8: {8, classReference}, formRefUdata: {inLEB, classReference}, formRefAddr: {inOffset, classRefAddr},
	formSecOffset: {inOffset, classOffset}, formLoclistx: {inLEB, classList}, formRnglistx: {inLEB, classList},
	formAddrx: {inLEB, classAddrIndex}, formAddrx1: {1, classAddrIndex}, formAddrx2: {2, classAddrIndex},
	formAddrx3: {3, classAddrIndex}, formAddrx4: {4, classAddrIndex}, formGNUAddrIndex: {inLEB, classAddrIndex},
	formRefSig8: {8, classSignature}, formIndirect: {inOther, classOther},
	formRefSup4: {4, classRefShared}, formRefSup8: {8, classRefShared}, formStrpSup: {inOffset, classStrShared},
	formGNURefAlt: {inOffset, classRefShared}, formGNUStrpAlt: {inOffset, classStrShared},
}

// written is how a form is written: a number of bytes, or one of the words above.
func (f form) written() int {
	if x, ok := forms[f]; ok {
		return x.written
	}
	return unknownForm
}

// size is how many bytes a value takes, -1 where that varies.
func (f form) size(offsetSize, addressSize int) int {
	switch n := f.written(); {
	case n >= 0:
		return n
	case n == inOffset:
		return offsetSize
	case n == inAddress:
		return addressSize
	}
	return -1
}

// skip steps over a value.
func (u *Unit) skip(c *cursor, f form) {
	if n := f.size(u.offsetSize, u.addressSize); n >= 0 {
		c.take(uint64(n))
		return
	}
	switch f.written() {
	case inLEB:
		c.signed()
	case inText:
		c.text()
	case inBlock1:
		c.take(c.number(1))
	case inBlock2:
		c.take(c.number(2))
	case inBlock4:
		c.take(c.number(4))
	case inBlockLEB:
		c.take(c.unsigned())
	case inOther:
		if f := form(c.unsigned()); f != formIndirect {
			u.skip(c, f)
			return
		}
		c.failed = true
	default:
		c.failed = true
	}
}

// skipAll steps over the values of an entry.
func (u *Unit) skipAll(c *cursor, attrs []attribute) {
	for i := range attrs {
		if n := attrs[i].size; n >= 0 {
			c.take(uint64(n))
		} else {
			u.skip(c, attrs[i].form)
		}
	}
}

// A value is that of an attribute as it is written: a number or bytes.
type value struct {
	form   form
	number uint64
	bytes  []byte
}

func (v value) class() class { return forms[v.form].class }

// value reads one.
func (u *Unit) value(c *cursor, a attribute) value {
	v := value{form: a.form}
	switch n := a.form.written(); {
	case a.form == formImplicitConst:
		v.number = uint64(a.implicit)
	case a.form == formFlagPresent:
		v.number = 1
	case a.form == formSdata:
		v.number = uint64(c.signed())
	case a.form == formData16:
		v.bytes = c.take(16)
	case n >= 0 || n == inOffset || n == inAddress:
		v.number = c.number(a.form.size(u.offsetSize, u.addressSize))
	case n == inLEB:
		v.number = c.unsigned()
	case n == inText:
		v.bytes = c.text()
	case n == inBlock1:
		v.bytes = c.take(c.number(1))
	case n == inBlock2:
		v.bytes = c.take(c.number(2))
	case n == inBlock4:
		v.bytes = c.take(c.number(4))
	case n == inBlockLEB:
		v.bytes = c.take(c.unsigned())
	case n == inOther:
		if f := form(c.unsigned()); f != formIndirect {
			return u.value(c, attribute{name: a.name, form: f})
		}
		c.failed = true
	default:
		c.failed = true
	}
	return v
}

// meaning gives a value as package debug/dwarf does: an address is a uint64, a constant and an offset of a section are
// an int64, the index of a list a uint64, a flag a bool, a reference a dwarf.Offset, a text a string, a block a []byte.
// What lies in another file that is not there, or cannot be read, is nil.
func (u *Unit) meaning(v value) any {
	switch v.class() {
	case classAddress:
		return v.number
	case classAddrIndex:
		if addr, err := u.address(v.number); err == nil {
			return addr
		}
		return nil
	case classConstant:
		return int64(v.number) // the standard leaves open whether one of a fixed size has a sign: as it stands
	case classOffset:
		return int64(v.number)
	case classList:
		return v.number
	case classFlag:
		return v.number != 0
	case classBlock:
		return v.bytes
	case classReference:
		return dwarf.Offset(uint64(u.off) + v.number)
	case classRefAddr:
		return u.reference(v.number)
	case classRefShared:
		if at, ok := u.elsewhere(v.number); ok {
			return at
		}
		return nil
	case classSignature:
		if at, ok := u.data.signed(v.number); ok {
			return at
		}
		return nil
	case classText, classStr, classLineStr, classStrIndex, classStrShared:
		if text, err := u.text(v); err == nil {
			return escape.Line(text) // names are constants of programs, and none is to make a line or act on a terminal
		}
	}
	return nil
}

// text is that of a value that is one.
func (u *Unit) text(v value) (string, error) {
	switch v.class() {
	case classText:
		return string(v.bytes), nil
	case classStr:
		return u.part.str.text(int64(v.number))
	case classLineStr:
		return u.part.lineStr.text(int64(v.number))
	case classStrShared:
		if u.part.shared == nil {
			return "", damaged("a text in a file that is not there")
		}
		return u.part.shared.str.text(int64(v.number))
	}
	size := int64(u.offsetSize)
	if v.number > 1<<40 {
		return "", damaged("text %d", v.number)
	}
	b, err := u.part.strOffsets.Bytes(int64(u.strBase)+size*int64(v.number), size)
	if err != nil {
		return "", err
	}
	return u.part.str.text(int64((&cursor{data: b}).number(u.offsetSize)))
}

// address is the one of an index in .debug_addr.
func (u *Unit) address(index uint64) (uint64, error) {
	size := int64(u.addressSize)
	if index > 1<<40 {
		return 0, damaged("address %d", index)
	}
	b, err := u.data.parts[0].addr.Bytes(int64(u.addrBase)+size*int64(index), size)
	if err != nil {
		return 0, err
	}
	return (&cursor{data: b}).number(u.addressSize), nil
}

// IndexedAddress is the one of an index in the unit's part of .debug_addr; false where there is none.
func (u *Unit) IndexedAddress(index uint64) (uint64, bool) {
	addr, err := u.address(index)
	return addr, err == nil
}

// InInfo is an offset in the unit, from its header on, as one of .debug_info.
func (u *Unit) InInfo(inUnit uint64) dwarf.Offset { return dwarf.Offset(uint64(u.off) + inUnit) }
