package attach

// CPUs is the number of CPUs that run now, 1 where that cannot be read.
func CPUs() int {
	list, err := onlineCPUs()
	if err != nil {
		return 1
	}
	return len(list)
}
