package infer

import (
	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/internal/kernel"
)

// The offsets in the kernel's structs by which path() walks to the root of the file systems.

// PathOffsets finds what a walk to the root of the file systems reads, in the
// kernel with these types.
func PathOffsets(btf *kernel.BTF) (*tree.PathOffsets, error) {
	o := &tree.PathOffsets{}
	for _, f := range []struct {
		to    *int
		tag   string
		names []string
	}{
		{&o.FilePath, "file", []string{"f_path"}},
		{&o.PathMnt, "path", []string{"mnt"}},
		{&o.PathDentry, "path", []string{"dentry"}},
		{&o.DentryParent, "dentry", []string{"d_parent"}},
		{&o.DentryName, "dentry", []string{"d_name", "name"}},
		{&o.DentryNameLen, "dentry", []string{"d_name", "len"}},
		{&o.DentryInode, "dentry", []string{"d_inode"}},
		{&o.DentryPprev, "dentry", []string{"d_hash", "pprev"}},
		{&o.InodeMode, "inode", []string{"i_mode"}},
		{&o.InodeIno, "inode", []string{"i_ino"}},
		{&o.InodeSb, "inode", []string{"i_sb"}},
		{&o.SbMagic, "super_block", []string{"s_magic"}},
		{&o.InodePrivate, "inode", []string{"i_private"}},
		{&o.NsOps, "ns_common", []string{"ops"}},
		{&o.NsOpsName, "proc_ns_operations", []string{"name"}},
		{&o.MountMnt, "mount", []string{"mnt"}},
		{&o.MountParent, "mount", []string{"mnt_parent"}},
		{&o.MountMountpoint, "mount", []string{"mnt_mountpoint"}},
		{&o.VfsmountRoot, "vfsmount", []string{"mnt_root"}},
	} {
		at, err := btf.OffsetOf(f.tag, f.names...)
		if err != nil {
			return nil, err
		}
		*f.to = at
	}
	return o, nil
}
