package procs

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// The user of --user found by name or number.

// nobody is what setreuid(2) and others take for no user: -1, of 32 bits.
const nobody = 1<<32 - 1

// FindUser is the number of a user, by the name or the number.
func FindUser(user string) (uint32, error) {
	if number, err := strconv.ParseInt(user, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		if err != nil || number < 0 || number >= nobody {
			return 0, fmt.Errorf("got %s: users have numbers from 0 to %d", user, nobody-1)
		}
		return uint32(number), nil
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
