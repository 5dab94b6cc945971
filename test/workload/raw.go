package main

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The work raw: system calls with given registers.

// rawCalls makes system calls whose registers are given as they are: NUMBER,WORD,WORD,… each, the words in hex, those
// that are left out 0. That they fail is the caller's wish.
func rawCalls(s settings, args []string) (func() (report, error), error) {
	calls := make([][7]uintptr, len(args))
	for i, arg := range args {
		words := strings.Split(arg, ",")
		if len(words) > len(calls[i]) {
			return nil, fmt.Errorf("%s: a call has %d arguments", arg, len(calls[i])-1)
		}
		for k, word := range words {
			base := 16
			if k == 0 {
				base = 10
			}
			n, err := strconv.ParseUint(word, base, 64)
			if err != nil {
				return nil, err
			}
			calls[i][k] = uintptr(n)
		}
	}
	const comm = "wl-raw"
	return func() (report, error) {
		failed := 0
		tids, err := onThreads(1, comm, s.pin, func(int) error {
			for _, c := range calls {
				if _, _, errno := unix.RawSyscall6(c[0], c[1], c[2], c[3], c[4], c[5], c[6]); errno != 0 {
					failed++
				}
			}
			return nil
		})
		return report{Comm: comm, Calls: len(calls), Failed: failed, TIDs: tids}, err
	}, nil
}
