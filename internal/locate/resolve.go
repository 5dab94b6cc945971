package locate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Paths below the root of a container, with links as its processes follow them.

// maxLinks is the kernel's own bound (path_resolution(7)).
const maxLinks = 40

// resolve gives the path by which we open a file below a root, following
// links as a process with that root does: an absolute link in a container
// starts at the container's root, where the kernel would start at ours.
func resolve(root, name string) (string, error) {
	if root == "" {
		if _, err := os.Stat(name); err != nil {
			return "", err
		}
		return name, nil
	}
	done, todo := "/", strings.Split(filepath.Clean("/"+name), "/")
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		if part == "" || part == "." {
			continue
		}
		next := filepath.Join(done, part) // the parent of / is /
		st, err := os.Lstat(root + next)
		if err != nil {
			return "", err
		}
		if st.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: %w", name, syscall.ELOOP)
		}
		target, err := os.Readlink(root + next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			done = "/"
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return root + done, nil
}
