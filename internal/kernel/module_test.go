package kernel

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

var modulesOfFixture fs.FS = fstest.MapFS{
	"modules.dep": {Data: []byte("kernel/fs/xfs/xfs.ko.xz: kernel/lib/libcrc32c.ko.xz\n" +
		"kernel/net/br-netfilter.ko:\n\n")},
	"modules.builtin": {Data: []byte("kernel/fs/ext4/ext4.ko\n")},
}

func TestModuleState(t *testing.T) {
	f := Open(Options{Modules: modulesOfFixture})
	for name, want := range map[string]ModuleState{
		"xfs": ModuleInstalled, "br_netfilter": ModuleInstalled, "ext4": ModuleBuiltIn, "xsf": ModuleUnknown,
		"": ModuleUnknown, "../xfs": ModuleUnknown,
	} {
		if got := f.ModuleState(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
	if got := strings.Join(f.ModuleNames(), " "); got != "xfs br_netfilter" {
		t.Errorf("modules %s", got)
	}
	if got := Open(Options{Modules: fstest.MapFS{}}).ModuleState("xfs"); got != ModuleUnknown {
		t.Errorf("without lists: %d", got)
	}
}

func TestLoadedModuleIn(t *testing.T) {
	for message, want := range map[string]string{
		"add@/module/xfs":                  "xfs",
		"remove@/module/xfs":               "",
		"add@/devices/virtual/block/loop0": "",
		"add@/module/xfs/x":                "",
		"add@/module/":                     "",
		"":                                 "",
		"add@/module/nbd":                  "nbd",
	} {
		if got, ok := loadedModuleIn(message); got != want && ok || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", message, got, ok, want)
		}
	}
}

func TestMatchFunctionsOf(t *testing.T) {
	f := Open(Options{TracefsPath: "testdata/functions", BTF: fixtureBTF(t)})
	for pattern, want := range map[string]string{
		"some_module:*": "handler helper", "some_module:h*r": "handler helper", "vmlinux:*": "do_thing helper_of_all",
		"some_module:handler": "handler", "none:*": "",
	} {
		module, glob, _ := strings.Cut(pattern, ":")
		list, err := f.MatchFunctionsOf(module, glob)
		var names []string
		for _, fn := range list {
			names = append(names, fn.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", pattern, got, err, want)
		}
	}
	_, err := f.MatchFunctionsOf("some_module", "do_thing")
	var none *NoFunctionError
	if !errors.As(err, &none) || !strings.Contains(err.Error(), "the module some_module has no function do_thing") {
		t.Errorf("got %v", err)
	}
}
