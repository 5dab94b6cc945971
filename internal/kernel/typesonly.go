package kernel

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"regexp"
)

// Facts of a kernel that does not run here, from its types alone, for --btf of `startrace verify`.
//
// Facts of a kernel that does not run here are read from its types alone: the
// file /sys/kernel/btf/vmlinux of a machine that runs it, or its vmlinux. Types
// have functions, structs, and what each tracepoint records. They do not have
// the folders of tracepoints, the functions that may not be probed, what modules
// have, nor what was switched off at boot.

// TypesOnly gives options for the facts of the kernel whose types are in a
// file. release is what uname -r says there; "" reads it from a vmlinux, or
// takes the oldest that has what the types have.
func TypesOnly(path, release string) (Options, error) {
	blob, err := readBTF(path)
	if err != nil {
		return Options{}, err
	}
	if bytes.HasPrefix(blob, []byte(elf.ELFMAG)) {
		if release == "" {
			release = bannerRelease(blob)
		}
		if blob, err = btfSection(blob); err != nil {
			return Options{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	b, err := ParseBTF(blob)
	if err != nil {
		return Options{}, fmt.Errorf("%s: %w", path, err)
	}
	if _, ok := b.Named(KindStruct, "task_struct"); !ok {
		return Options{}, fmt.Errorf("%s has no struct task_struct: these are not the types of a kernel", path)
	}
	if release == "" {
		release = b.leastRelease()
	}
	formats := &typeFormats{}
	return Options{
		BTF: blob, Release: release,
		Format: formats.tracepoint, Tracepoints: formats.match, Functions: typedFunctions,
		OnlyFunction: func(string) bool { return true },
		Blacklist:    func() (*Blacklist, error) { return &Blacklist{}, nil },
		Symbols:      func() (*Symbols, error) { return nil, errors.New("types have no addresses") },
		Features:     func() Features { return b.features(parseRelease(release)) },
	}, nil
}

// btfSection is the section .BTF of a vmlinux.
func btfSection(file []byte) ([]byte, error) {
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	s := f.Section(".BTF")
	if s == nil {
		return nil, errors.New("no section .BTF in it: the kernel was built without CONFIG_DEBUG_INFO_BTF, " +
			"or the file is stripped")
	}
	if s.Type == elf.SHT_NOBITS || s.FileSize > uint64(len(file)) {
		return nil, errors.New("its section .BTF is not in the file")
	}
	return s.Data()
}

// bannerRelease is the version that a vmlinux says it is, by linux_banner of init/version.c; "" where it does not.
func bannerRelease(file []byte) string {
	banner := regexp.MustCompile(`Linux version ([0-9]+\.[0-9]+[^ \x00]*) `)
	if m := banner.FindSubmatch(file); m != nil {
		return string(m[1])
	}
	return ""
}

// came are enumerators of include/uapi/linux/bpf.h, with the first version that
// has each.
var came = []struct{ name, release string }{
	{"BPF_TRACE_UPROBE_SESSION", "6.13"},
	{"BPF_TRACE_KPROBE_SESSION", "6.10"},
	{"BPF_TRACE_UPROBE_MULTI", "6.6"},
	{"BPF_FUNC_cgrp_storage_get", "6.2"},
	{"BPF_FUNC_user_ringbuf_drain", "6.1"},
	{"BPF_FUNC_dynptr_from_mem", "5.19"},
	{"BPF_TRACE_KPROBE_MULTI", "5.18"},
	{"BPF_FUNC_loop", "5.17"},
	{"BPF_FUNC_get_attach_cookie", "5.15"},
	{"BPF_FUNC_for_each_map_elem", "5.13"},
	{"BPF_FUNC_check_mtu", "5.12"},
	{"BPF_FUNC_ktime_get_coarse_ns", "5.11"},
}

// leastRelease is the oldest version that has what these types have.
func (b *BTF) leastRelease() string {
	for _, c := range came {
		if _, _, ok := b.EnumValue(c.name); ok {
			return c.release
		}
	}
	return "5.10"
}

// features are what types tell of Features: what was left out when the kernel
// was built has no types.
func (b *BTF) features(v Version) Features {
	has := func(kind TypeKind, name string) bool { _, ok := b.Named(kind, name); return ok }
	enum := func(name string) bool { _, _, ok := b.EnumValue(name); return ok }
	f := Features{
		Kprobe: has(KindFunc, "register_kprobe"), Uprobe: has(KindFunc, "uprobe_register"),
		KprobeMulti: has(KindStruct, "bpf_kprobe_multi_link"), UprobeMulti: has(KindStruct, "bpf_uprobe_multi_link"),
		Cookies: enum("BPF_FUNC_get_attach_cookie"), Why: map[string]string{},
	}
	f.KprobesCount = f.KprobeMulti && v.AtLeast(6, 7)
	f.UprobesOfProcess = f.UprobeMulti && v.AtLeast(6, 10)
	f.KprobeSession = f.KprobeMulti && enum("BPF_TRACE_KPROBE_SESSION")
	f.UprobeSession = f.UprobeMulti && enum("BPF_TRACE_UPROBE_SESSION")
	if !f.Kprobe {
		f.Why["kprobe"] = "it was built without CONFIG_KPROBES"
	}
	if !f.Uprobe {
		f.Why["uprobe"] = "it was built without CONFIG_UPROBES"
	}
	return f
}

// typedFunctions are those that types know, which is nearly all that can be
// probed.
func typedFunctions(f *Facts) ([]FunctionName, error) {
	b, err := f.BTF()
	if err != nil {
		return nil, err
	}
	var out []FunctionName
	for _, name := range b.Names(KindFunc) {
		out = append(out, FunctionName{Name: name})
	}
	return sortFunctions(out), nil
}
