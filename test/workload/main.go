// Command workload does things of known number, so that what a tracer says about it can be checked to the last event:
//
//	workload [flags] getppid N [THREADS]          exactly N calls of getppid
//	workload [flags] opens N THREADS DIR          N calls of openat, of each thread's own files, some of them missing
//	workload [flags] openways DIR                 files opened by each way, see openways.go
//	workload [flags] reads N SIZE,SIZE,…          N calls of read, of these sizes in turn
//	workload [flags] files DIR                    one file of each kind opened, written, read, closed, deleted
//	workload [flags] moves DIR                    bytes moved between files by each call that moves bytes, see
//	                                              moves.go
//	workload [flags] clones DIR                   bytes of a file cloned into others (reflinks), see clones.go
//	workload [flags] ends DIR                     an empty file read by each call that moves bytes, see ends.go
//	workload [flags] twins DIR                    two requests of io_uring with one number at a time, see ring.go
//	workload [flags] rounds N DIR                 N rounds of requests of io_uring, see ringways.go
//	workload [flags] ringways DIR                 requests of io_uring that do what calls do, see ringways.go
//	workload [flags] ringnet                      io_uring listens and accepts, see ringnet.go
//	workload [flags] sendfile FILE                a file sent to /dev/null by sendfile
//	workload [flags] queues N                     N message queues that stay, and N pipes that do not
//	workload [flags] blocks N DEVICE              N reads of 4096 bytes of a block device
//	workload [flags] flushes N DEVICE             N writes of a block device that are to be on the disk, and N flushes
//	workload [flags] mounts DIR                   file systems that are mounted step by step, and steps that fail
//	workload [flags] signals                      signal 0 by each call that sends signals
//	workload [flags] cold N                       N calls of openat with names in untouched pages
//	workload [flags] faults N                     N page faults, in the pages from 0x200000000000 on
//	workload [flags] stores N                     N writes of the variable main.watched, and half as many reads
//	workload [flags] spin THREADS DURATION        busy loops, all on one CPU, for so long of its time
//	workload [flags] execs N                      N processes in each of which a second thread executes a program
//	workload [flags] coldexecs N                  N processes that execute a program, with arguments in untouched
//	                                              pages
//	workload [flags] exits N                      N processes that end with status 0, 1, …, 255, 0, …
//	workload [flags] tcp N BYTES                  N connections in each of which so much is sent, and one that is
//
// refused
//
//	workload [flags] halfends N BYTES             N connections in which one side ends what it sends, and receives so
//	                                              much after the other side has closed
//	workload [flags] toitself N                   N sockets that connect to themselves
//	workload [flags] unheard N                    N connections whose data is not heard, and one whose answer is not
//	workload [flags] backlog N                    N connections for which nobody accepts, until standard input ends
//	workload [flags] sleeps THREADS DURATION      threads that sleep until the same moment, so long after the start
//	workload [flags] raw NUMBER,WORD,… …          system calls with these registers, in hex, whether they fail or not
//	workload peak FILE COMMAND …                  the command, and the most bytes of it that were resident to FILE
//	workload [flags] structs N DIR                N calls each of some for which structs are passed by value in the
//
// kernel
//
// For N calls, faults or stores the word endless may stand: the work goes on until the process is ended.
//
// The work is done by threads named "wl-" and the name of the work, by raw system calls: what Go's runtime does for
// itself bears other names or comes before. What was done is printed as one line of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"time"
)

// The table of works (`works`), their arguments, and the report.

// The kernel's events of a process name its first thread, which is to bear the name of the work: main keeps to it.
func init() { runtime.LockOSThread() }

// settings are the flags.
type settings struct {
	wait   bool   // for a line on standard input before the work begins
	report string // file for the JSON line; standard output if empty
	log    string // file for a line per call, where the work says so
	pin    bool   // thread i runs on CPU i modulo the number of CPUs
}

// report is what was done.
type report struct {
	// Work is the name of the sub-command.
	Work  string `json:"work"`
	Comm  string `json:"comm"`  // of the threads that did it
	Calls int    `json:"calls"` // of the system call, or processes
	// Failed is how many of the calls gave an error.
	Failed int `json:"failed,omitempty"`
	// Bytes is how many were read or written.
	Bytes int `json:"bytes,omitempty"`
	// PID is the number of this process, and TIDs are those of the threads that did the work.
	PID   int            `json:"pid"`
	TIDs  []int          `json:"tids,omitempty"`
	Sizes map[int]int    `json:"sizes,omitempty"` // of reads: how many of each size
	FDs   map[string]int `json:"fds,omitempty"`   // of files: the descriptor of each kind
	Began int64          `json:"began"`           // nanoseconds since 1970
	// Elapsed is how long the work took.
	Elapsed time.Duration `json:"ns"`
}

// work is a sub-command: it takes its arguments, may prepare, and returns what is to be timed.
type work func(s settings, args []string) (start func() (report, error), err error)

var works = map[string]work{
	"getppid":   getppid,
	"opens":     opens,
	"openways":  openWays,
	"reads":     reads,
	"files":     files,
	"names":     names,
	"queues":    queues,
	"blocks":    blocks,
	"flushes":   flushes,
	"cold":      cold,
	"faults":    faults,
	"stores":    stores,
	"spin":      spin,
	"execs":     execs,
	"exits":     exits,
	"tcp6":      tcp6,
	"tcp":       tcp,
	"tcpmoves":  tcpMoves,
	"halfends":  halfEnds,
	"toitself":  toItself,
	"backlog":   backlog,
	"sleeps":    sleeps,
	"raw":       rawCalls,
	"structs":   structs,
	"moves":     moves,
	"clones":    clones,
	"rounds":    rounds,
	"ringways":  ringWays,
	"ends":      ends,
	"ringnet":   ringNet,
	"twins":     twins,
	"sendfile":  sendfile,
	"coldexecs": coldexecs,
	"mounts":    mounts,
	"signals":   signals,
	"unheard":   unheard,
	"edge":      edge,
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == exitWord {
		exitAs(os.Args[2])
	}
	if len(os.Args) == 3 && os.Args[1] == coldExecWord {
		execCold(os.Args[2])
	}
	if len(os.Args) == 4 && os.Args[1] == coldScriptWord {
		execColdScripts(os.Args[2], os.Args[3])
	}
	if len(os.Args) == 3 && os.Args[1] == execWord {
		execAs(os.Args[2])
	}
	if len(os.Args) > 3 && os.Args[1] == peakWord {
		peakOf(os.Args[2], os.Args[3:])
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "workload:", err)
		os.Exit(1)
	}
}

func run() error {
	var s settings
	flag.BoolVar(&s.wait, "wait", false, "print ready, and wait for a line on standard input")
	flag.StringVar(&s.report, "report", "", "write the JSON line to this file")
	flag.StringVar(&s.log, "log", "", "write a line for each call to this file (opens)")
	flag.BoolVar(&s.pin, "pin", false, "spread the threads over the CPUs")
	flag.Parse()
	do, ok := works[flag.Arg(0)]
	if !ok {
		return fmt.Errorf("no work %q", flag.Arg(0))
	}
	start, err := do(s, flag.Args()[1:])
	if err != nil {
		return fmt.Errorf("%s: %w", flag.Arg(0), err)
	}
	if s.wait {
		fmt.Println("ready")
		if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
			return fmt.Errorf("wait for the start: %w", err)
		}
	}
	began := time.Now()
	done, err := start()
	if err != nil {
		return err
	}
	done.Work, done.PID, done.Elapsed = flag.Arg(0), os.Getpid(), time.Since(began)
	done.Began = began.UnixNano()
	return done.write(s.report)
}

func (r report) write(name string) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if name == "" {
		_, err = os.Stdout.Write(line)
		return err
	}
	return os.WriteFile(name, line, 0o644)
}

// numbers reads the leading arguments as numbers above zero; least of them must be there, the others become 1.
func numbers(args []string, least, most int) ([]int, error) {
	if len(args) < least || len(args) > most {
		return nil, errors.New("wrong number of arguments")
	}
	all := make([]int, most)
	for i := range all {
		all[i] = 1
		if i >= len(args) {
			continue
		}
		n, err := number(args[i])
		if err != nil {
			return nil, err
		}
		all[i] = n
	}
	return all, nil
}

// number reads a number above zero. The word endless stands for more than any machine ever does: for work that is ended
// from outside, so that a test does not depend on how fast the machine is.
func number(word string) (int, error) {
	if word == "endless" {
		return math.MaxInt, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%q is no number above zero", word)
	}
	return n, nil
}

// threadsFor reads the arguments THREADS DURATION.
func threadsFor(args []string) (threads int, long time.Duration, err error) {
	if len(args) != 2 {
		return 0, 0, errors.New("wants a number of threads and a duration")
	}
	n, err := numbers(args[:1], 1, 1)
	if err != nil {
		return 0, 0, err
	}
	long, err = time.ParseDuration(args[1])
	return n[0], long, err
}
