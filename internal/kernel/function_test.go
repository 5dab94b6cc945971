package kernel

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// functionFacts is a kernel that lists these functions.
func functionFacts(t *testing.T, list string) *Facts {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "available_filter_functions"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(Options{BTF: []byte{0}, TracefsPath: dir})
}

func TestMatchFunctions(t *testing.T) {
	f := functionFacts(t,
		"vfs_read\nnf_hook [nf_tables]\nvfs_write\nvfs_read\n__ftrace_invalid_address___8\nvfs_readv\n")
	for _, c := range []struct{ glob, want string }{
		{"vfs_*", "vfs_read vfs_readv vfs_write"},
		{"vfs_{read,write}", "vfs_read vfs_write"},
		{"{vfs_read,missing}", "vfs_read"},
		{"nf*", "nf_tables:nf_hook"},
		{"x*", ""},
		{"__ftrace*", ""},
	} {
		list, err := f.MatchFunctions(c.glob)
		if err != nil {
			t.Errorf("%s: %v", c.glob, err)
			continue
		}
		var got []string
		for _, fn := range list {
			got = append(got, strings.TrimPrefix(fn.Module+":"+fn.Name, ":"))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: got %q, want %q", c.glob, s, c.want)
		}
	}
}

func TestNoFunction(t *testing.T) {
	f := functionFacts(t, "vfs_read\nvfs_write\n")
	_, err := f.MatchFunctions("vfs_raed")
	var none *NoFunctionError
	if !errors.As(err, &none) || none.Near != "vfs_read" {
		t.Errorf("got %v, want a NoFunctionError with a hint at vfs_read", err)
	}
}

func TestFunctionTypes(t *testing.T) {
	f := Open(Options{})
	if _, err := f.BTF(); err != nil {
		t.Skip("needs BTF of the kernel (CONFIG_DEBUG_INFO_BTF, /sys/kernel/btf/vmlinux): ", err)
	}
	fn, err := f.Function("vfs_read")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	b, _ := f.BTF()
	for _, p := range fn.Params {
		got = append(got, b.TypeName(p.Type)+" "+p.Name)
	}
	const want = "struct file * file, char * buf, size_t count, loff_t * pos"
	if s := strings.Join(got, ", "); s != want || b.TypeName(fn.Ret) != "ssize_t" {
		t.Errorf("got %s (%s), want ssize_t (%s)", b.TypeName(fn.Ret), s, want)
	}
}
