package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/startrace/startrace/internal/command"
	"github.com/startrace/startrace/internal/session"
)

// The version, as --version prints it first; on what machine is internal/command.

// version and commit are set by the linker (see Makefile).
var version, commit string

// versionWord names the version, where the linker gave none that of the
// module.
func versionWord() string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		return info.Main.Version
	}
	return cmp.Or(version, "unknown")
}

// printVersion says in its first line what this is, then on what machine.
func printVersion(o session.Options) int {
	of := ""
	if commit != "" {
		of = "commit " + commit + ", "
	}
	return printed(o, func(w io.Writer) error {
		fmt.Fprintf(w, "startrace %s (%s%s %s/%s)\n", versionWord(), of, runtime.Version(), runtime.GOOS,
			runtime.GOARCH)
		return command.Machine(w)
	})
}
