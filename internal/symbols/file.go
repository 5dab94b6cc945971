package symbols

import (
	"bytes"
	"math"
	"os"
	"sort"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/internal/mapping"
)

// The functions of one file by their places.

// A file has the functions of an ELF file by the places in it: 16 bytes each
// beside the text of their names.
type file struct {
	functions []function
	names     []byte
	buildID   string
	// sources are where the source of its code is; nil where nobody asks, or nobody knows.
	sources *sources
	// unread is why functions were not read although there may be some; nil: they were.
	unread error
}

type function struct {
	offset uint64 // in the file
	size   uint32 // 0 of assembly, which goes on to the next function
	name   uint32 // in names: the length in two bytes, then the text
}

// maxName bounds a name; a longer one is cut.
const maxName = math.MaxUint16

// newFile takes the functions out of an ELF file; of several names of a place
// the first, which is the best. A file without any has none.
func newFile(f *elffile.File) *file {
	out := &file{buildID: f.BuildID}
	list, err := f.Functions()
	if err != nil {
		list = nil
	}
	list = withSignalReturns(withStubs(list, elffile.Stubs(f)), signalReturns(f))
	out.functions = make([]function, 0, len(list))
	for i, fn := range list {
		if i > 0 && list[i-1].Addr == fn.Addr || len(out.names) > math.MaxUint32-maxName-2 {
			continue
		}
		name := fn.Name[:min(len(fn.Name), maxName)]
		out.functions = append(out.functions, function{fn.Offset, uint32(min(fn.Size, math.MaxUint32)),
			uint32(len(out.names))})
		out.names = append(append(out.names, byte(len(name)), byte(len(name)>>8)), name...)
	}
	out.names = bytes.Clone(out.names)
	sort.SliceStable(out.functions, func(i, j int) bool { return out.functions[i].offset < out.functions[j].offset })
	return out
}

// find gives the function at a place of the file, and where that begins.
func (f *file) find(offset uint64) (name string, start uint64, ok bool) {
	i := sort.Search(len(f.functions), func(i int) bool { return f.functions[i].offset > offset }) - 1
	if i < 0 {
		return "", 0, false
	}
	fn := f.functions[i]
	if fn.size != 0 && offset-fn.offset >= uint64(fn.size) {
		return "", 0, false
	}
	return f.name(fn), fn.offset, true
}

func (f *file) name(fn function) string {
	size := int(f.names[fn.name]) | int(f.names[fn.name+1])<<8
	return string(f.names[fn.name+2:][:size])
}

// bytes is what the table takes.
func (f *file) bytes() int { return 16*len(f.functions) + len(f.names) + 256 }

// readVDSO reads the code that the kernel maps into every process, out of our
// own. Its size tells it from that of 32-bit programs.
func readVDSO() (*file, uint64) {
	maps, err := mapping.Read("/proc/self")
	if err != nil {
		return &file{}, 0
	}
	for _, m := range maps {
		if m.Path != vdsoName {
			continue
		}
		mem, err := os.Open("/proc/self/mem")
		if err != nil {
			break
		}
		defer mem.Close()
		image := make([]byte, m.End-m.Start)
		if _, err := mem.ReadAt(image, int64(m.Start)); err != nil {
			break
		}
		f, err := elffile.Read(vdsoName, bytes.NewReader(image), int64(len(image)),
			elffile.Options{DebugDirs: []string{}})
		if err != nil {
			break
		}
		return newFile(f), m.End - m.Start
	}
	return &file{}, 0
}

const vdsoName = "[vdso]"
