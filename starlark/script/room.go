package script

import (
	"fmt"
	"io"
	"os"
)

// longestSource is how many bytes a script may have: what is longer is something else, as /dev/zero.
const longestSource = 4 << 20

// readSource reads a script.
func readSource(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, longestSource+1))
	if err == nil && len(text) > longestSource {
		return nil, fmt.Errorf("%s has more than %d MB: that is no script", name, longestSource>>20)
	}
	return text, err
}
