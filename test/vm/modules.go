package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Modules of the kernel that a guest loads.

// module is a kernel module, decompressed, ready for insmod.
type module struct {
	name string
	data []byte
}

// modules returns the named modules of a kernel and those that they need, in the order in which to load them.
// A name that the kernel has built in or does not have is an error: the list says what the tests rely on. One that
// ends in ? is left out then.
func (f fetched) modules(names []string) ([]module, error) {
	var ordered []module
	seen := map[string]bool{}
	var visit func(name string) error
	visit = func(name string) error {
		name = strings.ReplaceAll(name, "-", "_")
		if seen[name] {
			return nil
		}
		seen[name] = true
		data, err := f.module(name)
		if err != nil {
			return err
		}
		needs, err := depends(data)
		if err != nil {
			return fmt.Errorf("module %s: %w", name, err)
		}
		for _, need := range needs {
			if err := visit(need); err != nil {
				return err
			}
		}
		ordered = append(ordered, module{name, data})
		return nil
	}
	for _, name := range names {
		name, optional := strings.CutSuffix(name, "?")
		if optional && !f.has(name) {
			continue
		}
		if err := visit(name); err != nil {
			return nil, err
		}
	}
	return ordered, nil
}

// files are those of a module, which may spell - for _ and may be compressed.
func (f fetched) files(name string) ([]string, error) {
	name = strings.ReplaceAll(name, "-", "_")
	return filepath.Glob(filepath.Join(f.dir, "modules", strings.ReplaceAll(name, "_", `[_\-]`)+".ko*"))
}

func (f fetched) has(name string) bool {
	files, err := f.files(name)
	return err == nil && len(files) == 1
}

// module reads one module.
func (f fetched) module(name string) ([]byte, error) {
	files, err := f.files(name)
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("kernel %s has %d modules %q", f.release, len(files), name)
	}
	switch filepath.Ext(files[0]) {
	case ".xz":
		return exec.Command("xz", "-dc", files[0]).Output()
	case ".zst":
		return exec.Command("zstd", "-qdc", files[0]).Output()
	}
	return os.ReadFile(files[0])
}

// depends reads the line depends=A,B of a module's section .modinfo, which holds strings that end in NUL.
func depends(data []byte) ([]string, error) {
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	section := file.Section(".modinfo")
	if section == nil {
		return nil, fmt.Errorf("no section .modinfo")
	}
	info, err := section.Data()
	if err != nil {
		return nil, err
	}
	for field := range strings.SplitSeq(string(info), "\x00") {
		if list, ok := strings.CutPrefix(field, "depends="); ok && list != "" {
			return strings.Split(list, ","), nil
		}
	}
	return nil, nil
}
