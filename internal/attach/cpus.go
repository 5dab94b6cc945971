package attach

import "github.com/startrace/startrace/internal/kernel"

// How many CPUs run now.

// CPUs is the number of CPUs that run now, 1 where that cannot be read.
func CPUs() int {
	list, err := kernel.OnlineCPUs()
	if err != nil {
		return 1
	}
	return len(list)
}
