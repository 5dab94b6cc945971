package kernel

import (
	"fmt"
	"strings"
)

// Messages that modules are loaded are heard (netlink).

// A ModuleWatch tells when modules are loaded. A module announces itself to udev before its own code runs, and until
// then nothing is done, where looking at /sys/module again and again would cost.
type ModuleWatch struct{ *uevents }

// WatchModules begins to listen.
func WatchModules() (*ModuleWatch, error) {
	told, err := listenToKernel()
	if err != nil {
		return nil, fmt.Errorf("watch for modules: %w", err)
	}
	return &ModuleWatch{told}, nil
}

// Next waits for the next module that is being loaded, and gives its name; "" if
// messages were lost: some may have been. It ends with an error when w is closed.
func (w *ModuleWatch) Next() (name string, err error) {
	_, err = w.until(func(head string) (ok bool) {
		name, ok = loadedModuleIn(head)
		return ok
	})
	return name, err
}

// loadedModuleIn reads the first line of a message.
func loadedModuleIn(head string) (string, bool) {
	name, ok := strings.CutPrefix(head, "add@/module/")
	return name, ok && isFileName(name)
}
