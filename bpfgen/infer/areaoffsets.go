package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// The offsets in the kernel's structs that lead from an address of a process to the file that is mapped there, for
// walks along user stacks.

// areaOffsets finds what leads from a part of a program's memory to its file, in the kernel with these types. The time
// of the last change has had several names.
func areaOffsets(btf *kernel.BTF) (*tree.AreaOffsets, error) {
	o := &tree.AreaOffsets{}
	for _, f := range []struct {
		to    *int
		tag   string
		names [][]string
	}{
		{&o.Start, "vm_area_struct", [][]string{{"vm_start"}}},
		{&o.End, "vm_area_struct", [][]string{{"vm_end"}}},
		{&o.Place, "vm_area_struct", [][]string{{"vm_pgoff"}}},
		{&o.Flags, "vm_area_struct", [][]string{{"vm_flags"}}},
		{&o.Ops, "vm_area_struct", [][]string{{"vm_ops"}}},
		{&o.File, "vm_area_struct", [][]string{{"vm_file"}}},
		{&o.MM, "vm_area_struct", [][]string{{"vm_mm"}}},
		{&o.VDSO, "mm_struct", [][]string{{"context", "vdso"}}},
		{&o.Inode, "file", [][]string{{"f_inode"}}},
		{&o.Number, "inode", [][]string{{"i_ino"}}},
		{&o.Super, "inode", [][]string{{"i_sb"}}},
		{&o.Size, "inode", [][]string{{"i_size"}}},
		{&o.Seconds, "inode", [][]string{{"i_mtime_sec"}, {"__i_mtime", "tv_sec"}, {"i_mtime", "tv_sec"}}},
		{&o.Nano, "inode", [][]string{{"i_mtime_nsec"}, {"__i_mtime", "tv_nsec"}, {"i_mtime", "tv_nsec"}}},
		{&o.Device, "super_block", [][]string{{"s_dev"}}},
	} {
		var at int
		var err error
		for _, names := range f.names {
			if at, err = btf.OffsetOf(f.tag, names...); err == nil {
				break
			}
		}
		if err != nil {
			return nil, err
		}
		*f.to = at
	}
	return o, nil
}
