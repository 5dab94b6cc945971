package ssagen

import (
	"path/filepath"
	"testing"

	"github.com/startrace/startrace/bpfgen/layout"
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/wire"
	"github.com/startrace/startrace/test/golden"
)

// sending is a unit that sends values of an event.
func sending(fields ...*tree.Expr) *tree.Unit {
	var names []string
	var ts []types.Type
	for _, f := range fields {
		names, ts = append(names, "value"), append(ts, f.Type)
	}
	return &tree.Unit{
		Records:  []*wire.Record{layout.Record(0, 0, names, ts)},
		Programs: []*tree.Program{rawProgram(&tree.Stmt{Op: tree.SSend, Exprs: fields})},
	}
}

// pathUnit has the offsets of some kernel.
func pathUnit() *tree.Unit {
	t := types.StrOf(257).OrFault()
	t.MayNone = true
	file := ctxWord(0, types.Type{Kind: types.Ptr})
	u := sending(&tree.Expr{Op: tree.OpPath, Type: t, Str: "file", Args: []*tree.Expr{file}})
	u.Path = &tree.PathOffsets{
		FilePath: 64, PathDentry: 8, DentryParent: 24, DentryName: 40, DentryNameLen: 36, DentryInode: 48,
		DentryPprev: 16,
		InodeIno:    64, InodeSb: 40, SbMagic: 96, MountMnt: 32, MountParent: 16, MountMountpoint: 24,
	}
	return u
}

func listUnit() *tree.Unit {
	list := &tree.Expr{
		Op: tree.OpStrList, Type: types.Type{Kind: types.Bytes, Cap: 256, Label: "strlist", MayFault: true},
		Str:  tree.User,
		Args: []*tree.Expr{ctxWord(0, types.U64)},
	}
	return sending(list)
}

func memUnit() *tree.Unit {
	mem := &tree.Expr{
		Op: tree.OpMem, Type: types.Type{Kind: types.Bytes, Cap: 6, Label: "mac", MayFault: true}, Str: tree.Kernel,
		Int:  4,
		Args: []*tree.Expr{ctxWord(0, types.U64)},
	}
	return sending(mem)
}

func keyedUnit() *tree.Unit {
	key := types.TupleOf(types.U32, types.U64)
	span := &tree.Span{Slots: []types.Type{types.U64}, Names: []string{"time"}, Key: key, First: true, Timeout: 1e9,
		Size: 100}
	keyExpr := &tree.Expr{Op: tree.OpTuple, Type: key, Args: []*tree.Expr{ctxWord(0, types.U32), ctxWord(1, types.U64)}}
	slot := &tree.Expr{Op: tree.OpSpanSlot, Type: types.U64}
	u := sending(slot)
	end := u.Programs[0]
	end.Name = "p1"
	end.Body.Stmts = append([]*tree.Stmt{{Op: tree.SSpanEnd, Exprs: []*tree.Expr{keyExpr}, Str: "filtered"}},
		end.Body.Stmts...)
	start := rawProgram(&tree.Stmt{Op: tree.SSpanStart, Exprs: []*tree.Expr{keyExpr, builtinExpr("time", types.U64)}})
	u.Spans, u.Programs = []*tree.Span{span}, []*tree.Program{start, end}
	return u
}

// TestBuildReads compares what walks the kernel's and programs' memory, and
// spans by key.
func TestBuildReads(t *testing.T) {
	for name, u := range map[string]*tree.Unit{"path": pathUnit(), "strlist": listUnit(), "mem": memUnit(),
		"keyspan": keyedUnit()} {
		t.Run(name, func(t *testing.T) {
			s := NewShared(u, AMD64, false)
			text := u.String()
			for _, p := range u.Programs {
				code, err := s.Program(p, DefaultStack, BySize)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range code.Funcs {
					text += "\n" + f.String()
				}
			}
			golden.Equal(t, filepath.Join("testdata", name+".txt"), text)
		})
	}
}
