package kernel

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Modules: loaded, installed, coming; which can be loaded.

// ModuleState says what a module is to the kernel.
type ModuleState uint8

// The states of modules.
const (
	ModuleUnknown   ModuleState = iota // there is none of that name
	ModuleInstalled                    // it can be loaded
	ModuleComing                       // it is being loaded, or has been for long
	ModuleLive                         // it is loaded
	ModuleBuiltIn                      // it is a part of the kernel
)

// moduleFolder has a folder for each module, and for each part of the kernel that
// could be one and has parameters.
const moduleFolder = "/sys/module"

// ModuleState looks a module up, by its name with underscores.
func (f *Facts) ModuleState(name string) ModuleState {
	if !isFileName(name) {
		return ModuleUnknown
	}
	if f.opts.Modules == nil {
		// Only modules have the file (kernel/module/sysfs.c); it says live, coming or going.
		state, err := os.ReadFile(filepath.Join(moduleFolder, name, "initstate"))
		switch {
		case err == nil && strings.TrimSpace(string(state)) == "live":
			return ModuleLive
		case err == nil:
			return ModuleComing
		}
	}
	switch {
	case slices.Contains(f.moduleList("modules.dep"), name):
		return ModuleInstalled
	case slices.Contains(f.moduleList("modules.builtin"), name):
		return ModuleBuiltIn
	}
	return ModuleUnknown
}

// ModuleNames are the modules that can be loaded, for spelling hints.
func (f *Facts) ModuleNames() []string { return f.moduleList("modules.dep") }

// moduleList reads the names in a list that depmod(8) or the kernel's build made:
// lines of a path, with `: ` and what it needs in modules.dep. No list, no names.
func (f *Facts) moduleList(list string) (out []string) {
	folder := f.opts.Modules
	if folder == nil {
		v, err := Release()
		if err != nil {
			return nil
		}
		folder = os.DirFS("/lib/modules/" + v.Text)
	}
	text, err := fs.ReadFile(folder, list)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		path, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		name, _, _ := strings.Cut(filepath.Base(path), ".ko")
		if path != "" {
			out = append(out, strings.ReplaceAll(name, "-", "_"))
		}
	}
	return out
}

// functionsOf gives those of one module, or of theKernel.
func functionsOf(module string, names []FunctionName) (out []FunctionName) {
	if module == theKernel {
		module = ""
	}
	for _, n := range names {
		if n.Module == module {
			out = append(out, n)
		}
	}
	return out
}

// theKernel is the name of no module: what belongs to none.
const theKernel = "vmlinux"

// Again gives facts in which what modules bring is read anew.
func (f *Facts) Again() *Facts {
	again := Open(f.opts)
	again.earlier = f
	return again
}
