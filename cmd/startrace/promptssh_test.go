package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/startrace/startrace/test/pty"
)

// An sshTest is a prompt behind a connection of ssh, whose other end is a
// server of the test's: it takes this one connection, from the client's pipes.
type sshTest struct {
	*promptTest
	client []string // the command, but for what to run
	bin    string
}

func newSSHTest(t *testing.T) *sshTest {
	t.Helper()
	server, serverErr := exec.LookPath("sshd") // which wants to be run by its whole path
	_, clientErr := exec.LookPath("ssh")
	if serverErr != nil || clientErr != nil {
		t.Skip("needs sshd and ssh (Debian's packages openssh-server, openssh-client)")
	}
	x := &sshTest{promptTest: newPromptTest(t)}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where the server shuts itself in (sshd(8))
		t.Fatal(err)
	}
	keys := t.TempDir()
	host, own, config := filepath.Join(keys, "host"), filepath.Join(keys, "own"), filepath.Join(keys, "config")
	for _, key := range []string{host, own} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
			key).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	text := fmt.Sprintf("HostKey %s\nAuthorizedKeysFile %s.pub\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"+
		"PrintMotd no\nPrintLastLog no\n", host, own)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	x.client = []string{"-tt", "-q", "-F", "none", "-i", own, "-o", "StrictHostKeyChecking=no", "-o",
		"UserKnownHostsFile=/dev/null",
		"-o", fmt.Sprintf("ProxyCommand=%s -i -f %s", server, config), me.Username + "@localhost"}
	x.bin, _, _ = strings.Cut(binFolder(t), ":")
	return x
}

// connect starts a prompt at the other end, whose process is given.
func (x *sshTest) connect() (pid int) {
	x.Helper()
	remote := fmt.Sprintf("cd %[1]s && echo $$ >pid && XDG_STATE_HOME=%[1]s exec %[2]s/startrace -p %[3]d", x.dir,
		x.bin, x.load.Process.Pid)
	cmd := exec.Command("ssh", append(x.client, remote)...)
	cmd.Env = append(os.Environ(), "TERM=xterm")
	var err error
	if x.Terminal, err = pty.Start(cmd, x.columns); err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() { _ = cmd.Process.Kill() }) // it has ended, unless the test failed
	x.await("1> ")
	text, err := os.ReadFile(filepath.Join(x.dir, "pid"))
	if err != nil {
		x.Fatal(err)
	}
	if pid, err = strconv.Atoi(strings.TrimSpace(string(text))); err != nil {
		x.Fatal(err)
	}
	return pid
}

const wroteFive = `w = probe("tracepoint:syscalls:sys_enter_write", lambda e: print("wrote", e.args.count), where = ` +
	`lambda e: e.args.count == 5)`

// Over ssh: completion, a line that wraps while an event comes above it, Ctrl-C,
// the end with its status.
func TestPromptSSH(t *testing.T) {
	x := newSSHTest(t)
	x.connect()
	x.press("w = probe(\"tracepoint:syscalls:sys_enter_wri\t")
	x.await(`1> w = probe("tracepoint:syscalls:sys_enter_write`)
	x.press(strings.TrimPrefix(wroteFive, `w = probe("tracepoint:syscalls:sys_enter_write`) + "\r")
	x.await("2>")
	line := `x = "` + strings.Repeat("longer than the terminal is wide, ", 3) + `"`
	x.press(line[:columns+10])
	x.await(line[columns-3 : columns+10]) // 3 columns are the prompt's
	x.round()
	x.awaitText("wrote 5\n2> " + line[:columns-3] + "\n" + line[columns-3:columns+10])
	x.press(line[columns+10:] + "\r")
	x.await("3>")
	x.press("1 + \x03")
	x.awaitText("3> 1 + ^C\n3>")
	x.press("len(x)\r")
	x.awaitText(fmt.Sprintf("3> len(x)\n%d\n4>", len(line)-6))
	if strings.Count(x.Screen(), "wrote 5\n") != 1 {
		t.Errorf("screen\n%s", x.Screen())
	}
	x.leave()
}

// A connection that is lost ends the prompt, and nothing stays in the kernel.
func TestPromptSSHLost(t *testing.T) {
	x := newSSHTest(t)
	pid := x.connect()
	x.enter(wroteFive)
	loaded := programsOf(t, pid)
	if len(loaded) == 0 {
		t.Fatal("a probe is attached, but the process holds no program")
	}
	if err := x.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := x.Wait(); err == nil {
		t.Error("a client that was killed ended with 0")
	}
	x.gone("the process", func() bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) })
	for _, id := range loaded {
		x.gone(fmt.Sprint("program ", id), func() bool {
			p, err := ebpf.NewProgramFromID(id)
			if err == nil {
				p.Close()
			}
			return errors.Is(err, os.ErrNotExist)
		})
	}
}

func (x *sshTest) gone(what string, is func() bool) {
	x.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			x.Fatalf("%s is still there", what)
		}
	}
}

// programsOf are the programs that a process holds by a descriptor.
func programsOf(t *testing.T, pid int) (ids []ebpf.ProgramID) {
	t.Helper()
	infos, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range infos {
		text, err := os.ReadFile(info)
		if err != nil {
			continue // it has just been closed
		}
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			number, found := strings.CutPrefix(lines.Text(), "prog_id:")
			if !found {
				continue
			}
			id, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, ebpf.ProgramID(id))
		}
	}
	return ids
}
