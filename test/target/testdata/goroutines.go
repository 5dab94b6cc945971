// Goroutines calls functions on many stacks, which grow: goroutines N.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

//go:noinline
func add(a int, text string, b int32) (int, int) { return a + len(text), int(b) }

//go:noinline
func deep(n int) int {
	var room [256]byte
	room[n%len(room)] = 1
	if n == 0 {
		return int(room[0]) - 1
	}
	return deep(n-1) + int(room[n%len(room)])
}

//go:noinline
func negative(n int) int { return -n }

//go:noinline
func nothing() {}

//go:noinline
func never(n int) { panic(n) }

//go:noinline
func recovered(n int) (r int) {
	defer func() { r = recover().(int) }()
	never(n)
	return -1
}

type shape interface{ area(scale int) int }

type square struct{ side int }

//go:noinline
func (s *square) area(scale int) int { return s.side * s.side * scale }

func main() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	for i := range 3 {
		add(i, "abc", int32(-i))
		negative(i)
		nothing()
		shape(&square{i}).area(10)
		recovered(i)
	}
	var all sync.WaitGroup
	sums := make(chan int, n)
	for i := range n {
		all.Go(func() { sums <- deep(i % 50) })
	}
	all.Wait()
	close(sums)
	sum := 0
	for s := range sums {
		sum += s
	}
	fmt.Println(sum)
}
