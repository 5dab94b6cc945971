package command

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/internal/attach"
	"github.com/startrace/startrace/internal/kernel"
)

// On which kernel and machine this is, as --version prints it.

// Machine says on which kernel this is, for reports of mistakes: what
// startrace doctor finds takes longer.
func Machine(w io.Writer) error {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return fmt.Errorf("uname: %w", err)
	}
	facts := kernel.Open(kernel.Options{})
	fmt.Fprintf(w, "kernel    %s %s\n", unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Machine[:]))
	fmt.Fprintf(w, "          %s\n", unix.ByteSliceToString(u.Version[:]))
	fmt.Fprintf(w, "types     %s\n", orProblem(typesOf(facts)))
	fmt.Fprintf(w, "tracefs   %s\n", orProblem(facts.TracefsPath()))
	fmt.Fprintf(w, "cpus      %d\n", attach.CPUs())
	fmt.Fprintf(w, "lockdown  %s\n", cmp.Or(kernel.Lockdown(),
		"unknown: this kernel has none, or /sys/kernel/security/lockdown cannot be read"))
	_, err := fmt.Fprintf(w, "user      %d\n", unix.Geteuid())
	return err
}

func orProblem(text string, err error) string {
	if err != nil {
		return err.Error()
	}
	return text
}

func typesOf(facts *kernel.Facts) (string, error) {
	if _, err := facts.BTF(); err != nil {
		return "", err
	}
	st, err := os.Stat(kernel.BTFPath)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, %d KB", kernel.BTFPath, st.Size()>>10), nil
}
