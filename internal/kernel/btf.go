package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// BTF, the kernel's types read in place from /sys/kernel/btf/vmlinux, and the message that there is none.

// BTFPath is where the kernel shows its own types (5.4, CONFIG_DEBUG_INFO_BTF).
const BTFPath = "/sys/kernel/btf/vmlinux"

// A BTF is a blob of BTF, read in place: what is kept of 126,000 types is the
// offset of every 16th header. It is safe for concurrent use.
//
// The layout is Documentation/bpf/btf.rst: a header, a section of types, each
// a header of 12 bytes and a tail by kind, and a section of strings.
type BTF struct {
	// types and strs are the two sections, as they were read.
	types, strs []byte
	// sparse holds the offset in types of the types 1, 1+stride, 1+2*stride …
	sparse []uint32
	count  int // types, void not counted
	// kinds is how many types of each kind there are, so that indexes are made in their size, and first the first one:
	// the functions of a kernel lie behind all that have members.
	kinds [btfKinds]int
	first [btfKinds]typeAt
	// usual are the functions whose names begin with one of usualFunctions, in order.
	usual []TypeID
	// signedEnums: pahole marks signed enums (2022, kernel 6.0). Before that the
	// flag was always 0 and enumerators were read as int.
	signedEnums bool

	// modules are the types of modules that have been asked for.
	modules atomic.Pointer[partList]
	// adding guards the adding of a module; readers need no lock.
	adding sync.Mutex
	// made is what was made of these types, by a key: see Once.
	made sync.Map

	// named, funcs, enums and traceiters find types by name, each made at its first use, by the once of its name.
	named, funcs, enums, traceiters nameIndex
	once                            struct{ named, funcs, enums, traceiters sync.Once }
	// functionsAsked is how often a function was asked for by its name, before there was an index of them.
	functionsAsked atomic.Int32
}

// A typeAt is a type and its offset in the section of types.
type typeAt struct {
	id  TypeID
	off int
}

// Once is what f makes of the types of b, made at the first call with a key.
func Once(b *BTF, key string, f func() any) any {
	if v, ok := b.made.Load(key); ok {
		return v
	}
	v, _ := b.made.LoadOrStore(key, f())
	return v
}

// stride trades memory (4 bytes in stride types) against steps per look-up.
const stride = 16

// The kinds of include/uapi/linux/btf.h.
const (
	btfInt      = 1
	btfPtr      = 2
	btfArray    = 3
	btfStruct   = 4
	btfUnion    = 5
	btfEnum     = 6
	btfFwd      = 7
	btfTypedef  = 8
	btfVolatile = 9
	btfConst    = 10
	btfRestrict = 11
	btfFunc     = 12
	btfProto    = 13
	btfVar      = 14
	btfDatasec  = 15
	btfFloat    = 16
	btfDeclTag  = 17
	btfTypeTag  = 18
	btfEnum64   = 19
	btfKinds    = 20
)

// btfTail gives the bytes after the header of 12: fixed + each * vlen.
var btfTail = [32]struct{ fixed, each uint8 }{
	btfInt: {4, 0}, btfArray: {12, 0}, btfStruct: {0, 12}, btfUnion: {0, 12},
	btfEnum: {0, 8}, btfProto: {0, 8}, btfVar: {4, 0}, btfDatasec: {0, 12},
	btfDeclTag: {4, 0}, btfEnum64: {0, 12},
}

const btfHeaderSize = 24

// OpenBTF maps the types of the running kernel. The mapping stays for the
// life of the process. Kernels before 6.16 refuse mmap; the file is read then.
func OpenBTF() (*BTF, error) { return openBTF(BTFPath) }

func openBTF(path string) (*BTF, error) {
	blob, err := readBTF(path)
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat("/sys/kernel"); err != nil {
			return nil, fmt.Errorf("the kernel's BTF (%s) cannot be seen: sysfs is not mounted at /sys", path)
		}
		return nil, fmt.Errorf("this kernel has no BTF (%s): it was built without CONFIG_DEBUG_INFO_BTF", path)
	}
	var failed *os.PathError
	switch {
	case errors.As(err, &failed) && failed.Op == "open":
		return nil, fmt.Errorf("open the kernel's BTF: %w", err)
	case err != nil:
		return nil, fmt.Errorf("read the kernel's BTF %s: %w", path, err)
	}
	b, err := ParseBTF(blob)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// readBTF is what a file has. A pipe that nobody writes is not waited for.
func readBTF(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mapOrRead(f)
}

func mapOrRead(f *os.File) ([]byte, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if n := st.Size(); n > 0 && n < 1<<31 {
		if blob, err := unix.Mmap(int(f.Fd()), 0, int(n), unix.PROT_READ, unix.MAP_PRIVATE); err == nil {
			return blob, nil
		}
		blob := make([]byte, n)
		_, err := io.ReadFull(f, blob)
		return blob, err
	}
	blob, err := io.ReadAll(io.LimitReader(f, largestBTF+1))
	switch {
	case err != nil:
		return nil, err
	case len(blob) > largestBTF:
		return nil, fmt.Errorf("%s has more than %d MB: that is no BTF", f.Name(), largestBTF>>20)
	case len(blob) == 0 && st.Mode()&os.ModeNamedPipe != 0:
		return nil, fmt.Errorf("%s: nobody writes this pipe: start what writes it first", f.Name())
	}
	return blob, nil
}

// largestBTF bounds what is read of a file that does not say how large it is. That of a kernel has some ten MB.
const largestBTF = 256 << 20

// ParseBTF makes a BTF of a blob, which must not change afterwards. Damaged
// input gives an error here or from the methods, never a panic.
func ParseBTF(blob []byte) (*BTF, error) {
	b := &BTF{}
	if err := b.parse(blob, false); err != nil {
		return nil, err
	}
	return b, nil
}

// parse reads the layout of a blob; split: it goes on where another one ends.
func (b *BTF) parse(blob []byte, split bool) error {
	if len(blob) < btfHeaderSize {
		return errors.New("bad BTF: shorter than its header")
	}
	switch binary.LittleEndian.Uint16(blob) {
	case 0xeb9f:
	case 0x9feb:
		return errors.New("bad BTF: big-endian")
	default:
		return errors.New("bad BTF: wrong magic number")
	}
	if blob[2] != 1 {
		return fmt.Errorf("bad BTF: version %d", blob[2])
	}
	hdrLen := binary.LittleEndian.Uint32(blob[4:])
	if hdrLen < btfHeaderSize || int64(hdrLen) > int64(len(blob)) {
		return fmt.Errorf("bad BTF: header of %d bytes", hdrLen)
	}
	var err error
	if b.types, err = section(blob, hdrLen, 8); err != nil {
		return fmt.Errorf("bad BTF: types: %w", err)
	}
	if b.strs, err = section(blob, hdrLen, 16); err != nil {
		return fmt.Errorf("bad BTF: strings: %w", err)
	}
	if n := len(b.strs); !split && (n == 0 || b.strs[0] != 0) || n > 0 && b.strs[n-1] != 0 {
		return errors.New("bad BTF: strings do not start and end with NUL")
	}
	return b.walkHeaders()
}

// section cuts out the section whose offset (after the header) and length
// stand at at.
func section(blob []byte, hdrLen uint32, at int) ([]byte, error) {
	off := int64(hdrLen) + int64(binary.LittleEndian.Uint32(blob[at:]))
	n := int64(binary.LittleEndian.Uint32(blob[at+4:]))
	if off+n > int64(len(blob)) {
		return nil, fmt.Errorf("%d bytes at %d are outside of the blob's %d", n, off, len(blob))
	}
	return blob[off : off+n : off+n], nil
}

// walkHeaders checks that each record lies within the types and fills sparse.
func (b *BTF) walkHeaders() error {
	b.sparse = make([]uint32, 0, len(b.types)/(stride*24)+1)
	for off := 0; off < len(b.types); {
		if b.count%stride == 0 {
			b.sparse = append(b.sparse, uint32(off))
		}
		b.count++
		if len(b.types)-off < 12 {
			return fmt.Errorf("bad BTF: type %d is cut off", b.count)
		}
		r := typeRecord(b.types[off:])
		kind := r.kind()
		if kind == 0 || kind >= btfKinds {
			return fmt.Errorf("bad BTF: type %d has the unknown kind %d", b.count, kind)
		}
		n := r.size()
		if n > len(b.types)-off {
			return fmt.Errorf("bad BTF: type %d is cut off", b.count)
		}
		if b.kinds[kind] == 0 {
			b.first[kind] = typeAt{TypeID(b.count), off}
		}
		b.kinds[kind]++
		switch {
		case kind == btfEnum && r.flag():
			b.signedEnums = true
		case kind == btfFunc && isUsual(b.strs, r.name()):
			b.usual = append(b.usual, TypeID(b.count))
		}
		off += n
	}
	if b.kinds[btfEnum64] > 0 {
		b.signedEnums = true
	}
	return nil
}

// Len gives the number of types; their ids are 1 to Len.
func (b *BTF) Len() int { return b.count }

// A typeRecord is the section of types from the header of one type on:
//
//	0 name_off u32 | 4 info u32: vlen 0-23, kind 24-30, kind_flag 31 | 8 size or type u32 | tail
//
// Before 7.x vlen had 16 bits and kind 5; the bits between were 0.
type typeRecord []byte

func (r typeRecord) u32(off int) uint32 { return binary.LittleEndian.Uint32(r[off:]) }
func (r typeRecord) name() uint32       { return r.u32(0) }
func (r typeRecord) kind() int          { return int(r.u32(4) >> 24 & 0x7f) }
func (r typeRecord) vlen() int          { return int(r.u32(4) & 0xffffff) }
func (r typeRecord) flag() bool         { return r.u32(4)>>31 != 0 }
func (r typeRecord) ref() TypeID        { return TypeID(r.u32(8)) }

func (r typeRecord) size() int {
	word := r.u32(4)
	t := btfTail[word>>24&31] // the kind is checked in walkHeaders
	return 12 + int(t.fixed) + int(t.each)*int(word&0xffffff)
}

// record finds a type that exists; nil for void and ids out of range.
func (b *BTF) record(id TypeID) typeRecord {
	switch {
	case id == 0:
		return nil
	case uint64(id) > uint64(b.count):
		return b.parts().record(id)
	}
	i := int(id - 1)
	off := int(b.sparse[i/stride])
	for range i % stride {
		off += typeRecord(b.types[off:]).size()
	}
	return typeRecord(b.types[off:])
}

// each calls f with every type in order.
func (b *BTF) each(f func(id TypeID, kind int, r typeRecord)) {
	types := b.types
	for id := TypeID(1); len(types) > 0; id++ {
		r := typeRecord(types)
		f(id, r.kind(), r)
		types = types[r.size():]
	}
}

// eachOf calls f with every type of some kinds in order. It looks only at those between the first and the last one.
func eachOf(b *BTF, kinds *[btfKinds]bool, f func(id TypeID, r typeRecord)) {
	left, at := 0, typeAt{off: len(b.types)}
	for k, is := range kinds {
		if is && b.kinds[k] > 0 {
			left += b.kinds[k]
			if b.first[k].off < at.off {
				at = b.first[k]
			}
		}
	}
	types := b.types[at.off:]
	for id := at.id; left > 0; id++ {
		r := typeRecord(types)
		if kinds[r.kind()] {
			f(id, r)
			left--
		}
		types = types[r.size():]
	}
}

// bytesAt gives the string at off without its NUL; nil if off is bad.
func (b *BTF) bytesAt(off uint32) []byte {
	if uint64(off) >= uint64(len(b.strs)) {
		return b.parts().bytesAt(off)
	}
	s := b.strs[off:]
	return s[:indexNUL(s)]
}

// string copies: strings must not point into the mapping.
func (b *BTF) string(off uint32) string { return string(b.bytesAt(off)) }
