package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The format files of tracepoints parsed: fields, `__data_loc`, and the longest array that is a value (`MaxArray`).

// ParseFormat parses a format file of tracefs, as trace_events.c prints it:
//
//	name: sched_switch
//	ID: 372
//	format:
//		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
//
//	print fmt: "prev_comm=%s …", REC->prev_comm
func ParseFormat(text []byte) (*Tracepoint, error) {
	t := &Tracepoint{ID: -1}
	for len(text) > 0 {
		if own, ok := bytes.CutPrefix(text, []byte("print fmt: ")); ok {
			t.PrintFmt = strings.TrimSpace(string(own)) // to the end: a string in it can have several lines
			break
		}
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if err := t.parseLine(strings.TrimSpace(string(line))); err != nil {
			return nil, err
		}
	}
	if t.ID < 0 {
		return nil, errors.New("no ID")
	}
	return t, nil
}

func (t *Tracepoint) parseLine(line string) error {
	if s, ok := strings.CutPrefix(line, "name: "); ok {
		t.Name = s
	} else if s, ok := strings.CutPrefix(line, "ID: "); ok {
		id, err := strconv.ParseUint(s, 10, 31)
		if err != nil {
			return fmt.Errorf("bad ID %q", s)
		}
		t.ID = int(id)
	} else if s, ok := strings.CutPrefix(line, "field:"); ok {
		field, err := parseField(s)
		if err != nil {
			return fmt.Errorf("bad field %q: %w", line, err)
		}
		t.Fields = append(t.Fields, field)
	}
	return nil
}

// maxRecord bounds the offsets of a record: perf's buffer has 8 KiB.
const maxRecord = 1 << 16

func parseField(s string) (TracepointField, error) {
	var f TracepointField
	decl, rest, ok := strings.Cut(s, ";")
	if !ok {
		return f, errors.New("no semicolon")
	}
	seen := 0
	for part := range strings.SplitSeq(rest, ";") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n > maxRecord {
			return f, fmt.Errorf("%s is %q", key, value)
		}
		switch key {
		case "offset":
			f.Off = n
		case "size":
			f.Size = n
		case "signed":
			f.Signed = n != 0
		default:
			continue
		}
		seen++
	}
	if seen != 3 {
		return f, errors.New("offset, size and signed must be given")
	}
	return f, f.parseDecl(strings.TrimSpace(decl))
}

// parseDecl reads a declaration: `char comm[16]`, `__data_loc char[] name`,
// `const char * filename`, `void (*fn)(void)`.
func (f *TracepointField) parseDecl(decl string) error {
	if rest, ok := strings.CutPrefix(decl, "__data_loc "); ok {
		f.DataLoc, decl = true, rest
	} else if rest, ok := strings.CutPrefix(decl, "__rel_loc "); ok {
		f.RelLoc, decl = true, rest
	}
	decl, length, array := f.cutLength(decl)
	if strings.Contains(decl, "(") {
		return f.parseFunctionPointer(decl)
	}
	at := strings.LastIndexAny(decl, " *\t")
	if at < 0 || at == len(decl)-1 {
		return errors.New("no name")
	}
	f.CType, f.Name = strings.TrimSpace(decl[:at+1]), decl[at+1:]
	elem := strings.TrimSuffix(f.CType, "[]")
	f.Array = array || f.DataLoc || f.RelLoc || elem != f.CType
	f.IsPtr = strings.HasSuffix(strings.TrimSuffix(elem, "const"), "*") && !f.Array
	if f.Array {
		f.setArray(elem, length)
	}
	return nil
}

// cutLength cuts `[16]`, `[TASK_COMM_LEN]` or `[sizeof(struct sockaddr_in6)]`
// off a declaration.
func (f *TracepointField) cutLength(decl string) (rest, length string, array bool) {
	if !strings.HasSuffix(decl, "]") {
		return decl, "", false
	}
	at := strings.LastIndexByte(decl, '[')
	if at < 0 {
		return decl, "", false
	}
	return strings.TrimSpace(decl[:at]), decl[at+1 : len(decl)-1], true
}

func (f *TracepointField) setArray(elem, length string) {
	elem = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(elem), "const "))
	f.IsString = elem == "char"
	if f.DataLoc || f.RelLoc {
		return
	}
	if n, err := strconv.Atoi(length); err == nil && n > 0 && n <= maxRecord {
		f.ArrayLen = n
		return
	}
	// Older kernels print the length as the source has it: char comm[TASK_COMM_LEN].
	if size := elemSize[elem]; size > 0 {
		f.ArrayLen = f.Size / size
	}
}

// ElementType is the type of an element of a dynamic array, as C spells it, and its size in bytes; 0 of types that only
// BTF knows. A mask of CPUs has words.
func (f *TracepointField) ElementType() (spelled string, size int) {
	spelled = strings.TrimSpace(strings.TrimSuffix(f.CType, "[]"))
	if strings.HasPrefix(spelled, "cpumask_t") {
		return "unsigned long", 8
	}
	return spelled, elementSize(spelled)
}

// elementSize is the size in bytes of an element of an array, by the name of its type in C; 0 of names that are not
// known here.
func elementSize(ctype string) int { return elemSize[strings.TrimPrefix(ctype, "const ")] }

var elemSize = map[string]int{
	"char": 1, "signed char": 1, "unsigned char": 1, "bool": 1, "u8": 1, "s8": 1, "__u8": 1, "uint8_t": 1,
	"short": 2, "unsigned short": 2, "u16": 2, "__u16": 2, "__be16": 2,
	"int": 4, "unsigned int": 4, "u32": 4, "s32": 4, "__u32": 4, "__be32": 4,
	"long": 8, "unsigned long": 8, "u64": 8, "s64": 8, "__u64": 8,
}

// parseFunctionPointer reads `void (*fn)(int)`.
func (f *TracepointField) parseFunctionPointer(decl string) error {
	open := strings.Index(decl, "(*")
	if open < 0 {
		return errors.New("strange declaration")
	}
	name, rest, ok := strings.Cut(decl[open+2:], ")")
	if !ok || strings.TrimSpace(name) == "" {
		return errors.New("no name")
	}
	f.Name, f.IsPtr = strings.TrimSpace(name), true
	f.CType = decl[:open] + "(*)" + rest
	return nil
}

// A Tracepoint is a tracepoint of tracefs with the format of its records.
type Tracepoint struct {
	// Group and Name are its folders below events/ of tracefs.
	Group, Name string
	ID          int // for perf_event_open
	// Fields are in the order of the format, the common_ ones among them.
	Fields []TracepointField
	// PrintFmt is how the kernel prints a record: a format of printf and expressions of C.
	PrintFmt string
}

// MaxArray is the most elements of an array that is a value as a whole. Elements of longer ones are.
const MaxArray = 64

// A TracepointField is one field of a tracepoint's record.
type TracepointField struct {
	// Name and CType are the field's name and its type as the format writes them.
	Name, CType string
	Off, Size   int // bytes in the record
	// Signed: it is a signed int.
	Signed bool
	// Array: Size bytes hold ArrayLen elements. ArrayLen is 0 for dynamic arrays,
	// for those that run to the record's end (Size 0), and where the kernel prints
	// the length as a name and the element is no plain type.
	Array    bool
	ArrayLen int
	// DataLoc: the field is a u32, length<<16 | offset from the record's start.
	// RelLoc: the offset counts from the end of the field.
	DataLoc, RelLoc bool
	IsString        bool // char arrays, fixed or dynamic
	// IsPtr: it is an address.
	IsPtr bool
	// Arg is the argument that the field is, at the entry of a system call: then the field has the whole register. nil
	// elsewhere.
	Arg *SyscallArg
}

// TracepointName names a tracepoint, by its Group and its Name in that.
type TracepointName struct{ Group, Name string }

func (n TracepointName) String() string { return n.Group + ":" + n.Name }
