package tree

import (
	"fmt"
	"strconv"
	"strings"
)

// The builtin of trees that gives the cgroup of a level, for --cgroup.

const ancestorPrefix = "ancestor_cgroup:"

// AncestorCgroup is the builtin (OpBuiltin) that gives the number of the cgroup of a level among those that the current
// process is in; 0: it is not in that many.
func AncestorCgroup(level int) string { return fmt.Sprint(ancestorPrefix, level) }

// AncestorLevel is the level of such a builtin.
func AncestorLevel(builtin string) (level int64, ok bool) {
	digits, ok := strings.CutPrefix(builtin, ancestorPrefix)
	if !ok {
		return 0, false
	}
	level, err := strconv.ParseInt(digits, 10, 32)
	return level, err == nil
}
