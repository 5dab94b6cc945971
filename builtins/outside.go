package builtins

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.starlark.net/starlark"

	"github.com/startrace/startrace/starlark/value"
)

// proc(pid) with its attributes, write_file(), append_file(), run() and how long a command may take (`runLimit`),
// send_signal().

// runLimit is how long a command of run() may take if the script says nothing.
const runLimit = 10 * time.Second

var outsideFamily = []Entry{
	{
		Name: "proc", Family: "outside",
		Signature: "proc(pid)",
		Doc: `What /proc knows of a process at this moment: exe, cmdline (a list), cwd, fds (a dict of what is open by
number), cgroup (its path), container (the id in that path, else None). Processes have the numbers
of the whole machine there, as e.pid. What is not there any more is None.`,
		Reaches: "reads in /proc what is known of a process",
		call:    procCall,
	},
	{
		Name: "write_file", Family: "outside",
		Signature: "write_file(name, text)",
		Doc: `Writes a file anew, below a folder that --allow-write DIR grants. A relative name is one in that
folder.`,
		Reaches: "writes a file anew", Needs: "--allow-write DIR",
		call: func(e *Env, c *call) (starlark.Value, error) { return writeCall(e, c, false) },
	},
	{
		Name: "append_file", Family: "outside",
		Signature: "append_file(name, text)",
		Doc:       "Writes at the end of a file, as write_file does.",
		Reaches:   "writes at the end of a file", Needs: "--allow-write DIR",
		call: func(e *Env, c *call) (starlark.Value, error) { return writeCall(e, c, true) },
	},
	{
		Name: "run", Family: "outside",
		Signature: `run(["cmd", …], timeout="10s")`,
		Doc: `Runs a command, where --allow-run grants it, and waits for its end. It gives a record with status,
out and err. Events wait meanwhile. A status of -1 is a command that a signal or the timeout ended.`,
		Reaches: "runs a command", Needs: "--allow-run",
		call: runCall,
	},
	{
		Name: "send_signal", Family: "outside",
		Signature: "send_signal(signal)",
		Doc: `Sends a signal to the process of the event, in a kernel half, where --unsafe grants it. It gives
whether the kernel took the signal, of a number that is none False. The process gets it before it goes
on in user space.`,
		Reaches: "sends a signal to the process of the event", Needs: "--unsafe",
		call: func(*Env, *call) (starlark.Value, error) {
			return nil, errors.New("send_signal: it acts on the process of the event, in the kernel: " +
				"call it in a handler that runs there, or in kernel=")
		},
	},
}

// writeCall writes a file, or adds to it. While a script is only looked at, as by explain, nothing is written.
func writeCall(e *Env, c *call, add bool) (starlark.Value, error) {
	var name, text string
	if err := c.unpack("name", &name, "text", &text); err != nil {
		return nil, err
	}
	if e.Outside == nil || e.Muted {
		return starlark.None, nil
	}
	if err := e.Outside.Write(name, text, add); err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	return starlark.None, nil
}

// runCall runs a command and gives its status and what it has printed. It waits for at most timeout.
func runCall(e *Env, c *call) (starlark.Value, error) {
	var words *starlark.List
	var timeout starlark.Value
	if err := c.unpack("argv", &words, "timeout?", &timeout); err != nil {
		return nil, err
	}
	limit := int64(runLimit)
	if timeout != nil {
		var err error
		if limit, err = toDuration(timeout); err != nil {
			return nil, fmt.Errorf("run: timeout: %w", err)
		}
	}
	argv, err := toWords(words)
	switch {
	case err != nil:
		return nil, err
	case e.Outside == nil || e.Muted:
		return ran(0, "", ""), nil
	}
	ctx := context.Background()
	if e.Wait != nil {
		var done func()
		ctx, done = e.Wait()
		defer done()
	}
	status, out, errs, err := e.Outside.Run(ctx, argv, time.Duration(limit))
	if err != nil {
		return nil, fmt.Errorf("run: %w", err)
	}
	return ran(status, out, errs), nil
}

// ran is the record that run() gives.
func ran(status int, out, errs string) starlark.Value {
	return value.NewRecord([]string{"status", "out", "err"},
		[]starlark.Value{starlark.MakeInt(status), starlark.String(out), starlark.String(errs)})
}

// toWords are the words of a command: its program, then its arguments.
func toWords(list *starlark.List) ([]string, error) {
	var out []string
	for i := range list.Len() {
		s, ok := starlark.AsString(list.Index(i))
		if !ok {
			return nil, fmt.Errorf("run: got %s as word %d, want a string", list.Index(i).Type(), i)
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, errors.New(`run: got no words, want a command: run(["ls", "-l"])`)
	}
	return out, nil
}

// procCall gives a process by its number. Nothing is read before a word is asked for.
func procCall(e *Env, c *call) (starlark.Value, error) {
	var pid int
	if err := c.unpack("pid", &pid); err != nil {
		return nil, err
	}
	if pid <= 0 {
		return nil, fmt.Errorf("proc: got %d, want the number of a process", pid)
	}
	return &process{pid, e.Outside}, nil
}

// procWords are the attributes of proc(pid).
var procWords = []string{"cgroup", "cmdline", "container", "cwd", "exe", "fds"}

// A process is what proc(pid) gives. Each word is read when it is asked for; where outside is nil it is None.
type process struct {
	// pid is its number, as the script gave it.
	pid int
	// outside reads its words. It is nil where a script is only looked at: then each word is None.
	outside Outside
}

var _ starlark.HasAttrs = (*process)(nil)

func (p *process) String() string        { return fmt.Sprintf("<proc %d>", p.pid) }
func (p *process) Type() string          { return "proc" }
func (p *process) Freeze()               {}
func (p *process) Truth() starlark.Bool  { return starlark.True }
func (p *process) Hash() (uint32, error) { return uint32(p.pid), nil }
func (p *process) AttrNames() []string   { return procWords }

// Attr reads a word.
func (p *process) Attr(name string) (starlark.Value, error) {
	for _, w := range procWords {
		if w == name && p.outside == nil {
			return starlark.None, nil
		}
		if w == name {
			return p.outside.Proc(p.pid, name)
		}
	}
	return nil, nil
}
