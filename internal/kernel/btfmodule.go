package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
)

// The types of modules, added behind the kernel's.
//
// The types of modules (5.11, CONFIG_DEBUG_INFO_BTF_MODULES) go on where the
// kernel's end: their numbers and the offsets of their names count from there,
// in each module anew. Here they are put behind each other: of each module
// that is added the numbers and offsets are raised, so that a TypeID and an offset
// mean one thing, and all that works on a BTF works on modules too.

// A moduleBTF is the types of one module, in the numbers of the whole.
type moduleBTF struct {
	// name is the module's.
	name string
	part BTF // types, strs, sparse, count: of the module alone
	// first is the number of its first type, strings the offset of its first
	// string.
	first   TypeID
	strings uint32
	// raised is how much greater numbers are than in the module's own BTF.
	raised TypeID
	// program: these are types of a program.
	program *programTypes
	// once makes funcs, which finds its functions by name, at the first use.
	once  sync.Once
	funcs nameIndex
}

// addModule adds the types of a module. The blob is changed and kept.
func (b *BTF) addModule(name string, blob []byte) (*moduleBTF, error) {
	m := &moduleBTF{name: name}
	if err := m.part.parse(blob, true); err != nil {
		return nil, err
	}
	b.adding.Lock()
	defer b.adding.Unlock()
	before := b.parts()
	own := TypeID(b.count) + 1
	m.first, m.strings = before.behind(b)
	m.raised = m.first - own
	m.raise(own, uint32(len(b.strs)))
	list := append(slices.Clone(before), m)
	b.modules.Store(&list)
	return m, nil
}

// raise adds to all numbers from own on, and to all names from strs on.
func (m *moduleBTF) raise(own TypeID, strs uint32) {
	name := func(at []byte) {
		if off := binary.LittleEndian.Uint32(at); off >= strs {
			binary.LittleEndian.PutUint32(at, off-strs+m.strings)
		}
	}
	ref := func(at []byte) {
		if id := TypeID(binary.LittleEndian.Uint32(at)); id >= own {
			binary.LittleEndian.PutUint32(at, uint32(id+m.raised))
		}
	}
	m.part.each(func(_ TypeID, kind int, r typeRecord) {
		name(r)
		if refersTo[kind] {
			ref(r[8:])
		}
		if kind == btfArray {
			ref(r[12:])
			ref(r[16:])
			return
		}
		tail := btfTail[kind]
		for i := range r.vlen() {
			each := r[12+int(tail.fixed)+i*int(tail.each):]
			switch kind {
			case btfStruct, btfUnion, btfProto:
				name(each)
				ref(each[4:])
			case btfEnum, btfEnum64:
				name(each)
			case btfDatasec:
				ref(each)
			}
		}
	})
}

// refersTo says of which kinds the third word of the header is a type.
var refersTo = [btfKinds]bool{
	btfPtr: true, btfTypedef: true, btfVolatile: true, btfConst: true, btfRestrict: true, btfTypeTag: true,
	btfFunc: true, btfProto: true, btfVar: true, btfDeclTag: true,
}

// A partList are the types behind those of the kernel: of modules and programs, in the order in which they were added.
type partList []*moduleBTF

// parts are those of now.
func (b *BTF) parts() partList {
	if list := b.modules.Load(); list != nil {
		return *list
	}
	return nil
}

// behind is the number of the next type, and the offset of the next name.
func (l partList) behind(b *BTF) (TypeID, uint32) {
	if len(l) == 0 {
		return TypeID(b.count) + 1, uint32(len(b.strs))
	}
	last := l[len(l)-1]
	return last.first + TypeID(last.part.count), last.strings + uint32(len(last.part.strs))
}

// of gives the part that has a type; nil if none has.
func (l partList) of(id TypeID) *moduleBTF {
	i := sort.Search(len(l), func(i int) bool { return l[i].first > id }) - 1
	if i < 0 || id-l[i].first >= TypeID(l[i].part.count) {
		return nil
	}
	return l[i]
}

// record finds a type behind those of the kernel.
func (l partList) record(id TypeID) typeRecord {
	m := l.of(id)
	if m == nil {
		return nil
	}
	return m.part.record(id - m.first + 1)
}

// bytesAt is that of BTF behind the names of the kernel.
func (l partList) bytesAt(off uint32) []byte {
	i := sort.Search(len(l), func(i int) bool { return l[i].strings > off }) - 1
	if i < 0 || off-l[i].strings >= uint32(len(l[i].part.strs)) {
		return nil
	}
	s := l[i].part.strs[off-l[i].strings:]
	return s[:indexNUL(s)]
}

// named finds a function, or a typedef, of the module.
func (m *moduleBTF) named(b *BTF, kind TypeKind, name string) (TypeID, bool) {
	m.once.Do(func() {
		m.funcs = newNameIndex(m.part.kinds[btfFunc] + m.part.kinds[btfTypedef])
		m.part.each(func(id TypeID, kind int, r typeRecord) {
			if kind == btfFunc || kind == btfTypedef {
				m.funcs.add(b.bytesAt(r.name()), m.first+id-1)
			}
		})
	})
	return b.findNamed(&m.funcs, kind, name)
}

// errNoModuleTypes: fixtures have no modules.
var errNoModuleTypes = errors.New("there is no BTF of modules")

// module gives the types of a loaded module, nil and why not. It is read once.
func (f *Facts) module(name string) (*moduleBTF, error) {
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	f.modulesMu.Lock()
	defer f.modulesMu.Unlock()
	if m, ok := f.modules[name]; ok {
		return m.types, m.err
	}
	if f.earlier != nil { // its types have numbers already
		if m, ok := f.earlier.readModules(name); ok {
			return m, nil
		}
	}
	m := loadedModule{}
	if m.types, m.err = f.readModule(b, name); m.err != nil {
		m.err = fmt.Errorf("read the types of module %s: %w", name, m.err)
	}
	if f.modules == nil {
		f.modules = map[string]loadedModule{}
	}
	f.modules[name] = m
	return m.types, m.err
}

// readModules gives the types of a module that have been read.
func (f *Facts) readModules(name string) (*moduleBTF, bool) {
	f.modulesMu.Lock()
	defer f.modulesMu.Unlock()
	m, ok := f.modules[name]
	if (!ok || m.err != nil) && f.earlier != nil {
		return f.earlier.readModules(name)
	}
	return m.types, ok && m.err == nil
}

func (f *Facts) readModule(b *BTF, name string) (*moduleBTF, error) {
	blob, err := f.moduleBlob(name)
	if err != nil {
		return nil, err
	}
	return b.addModule(name, blob)
}

func (f *Facts) moduleBlob(name string) ([]byte, error) {
	switch {
	case f.opts.ModuleBTF != nil:
		blob, ok := f.opts.ModuleBTF[name]
		if !ok {
			return nil, errNoModuleTypes
		}
		return slices.Clone(blob), nil
	case f.opts.BTF != nil || f.opts.BTFPath != "":
		return nil, errNoModuleTypes
	}
	return os.ReadFile(filepath.Join(filepath.Dir(BTFPath), name))
}

// moduleNames are the modules whose types the kernel shows, sorted.
func (f *Facts) moduleNames() []string {
	var out []string
	for name := range f.opts.ModuleBTF {
		out = append(out, name)
	}
	if f.opts.BTF == nil && f.opts.BTFPath == "" {
		list, err := os.ReadDir(filepath.Dir(BTFPath))
		if err != nil {
			return out // there is no BTF at all, which has been said
		}
		for _, file := range list {
			if file.Name() != filepath.Base(BTFPath) {
				out = append(out, file.Name())
			}
		}
	}
	slices.Sort(out)
	return out
}
