package procs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// FindUser is the number of a user, by the name or the number.
func FindUser(user string) (uint32, error) {
	if n, err := strconv.ParseUint(user, 10, 32); err == nil {
		return uint32(n), nil
	}
	text, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return 0, fmt.Errorf("find the user %s: %w", user, err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) < 3 {
			continue
		}
		names = append(names, fields[0])
		if n, err := strconv.ParseUint(fields[2], 10, 32); err == nil && fields[0] == user {
			return uint32(n), nil
		}
	}
	return 0, fmt.Errorf("/etc/passwd has no user %s%s; a number stands for any user", user, thereAre(names))
}
