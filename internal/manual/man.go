package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/startrace/startrace/internal/flags"
)

// The man page, with what the exit codes and environment variables mean.

// Man writes the page for man(1), in the macros of man(7).
func (b *Book) Man(w io.Writer, version string) {
	p := &page{w}
	p.line(`.TH STARTRACE 1 "" "startrace %s" "User Commands"`, roff(version))
	p.section("NAME")
	p.line(`startrace \- a programmable tracer`)
	p.section("SYNOPSIS")
	for _, form := range forms {
		form, _, _ = strings.Cut(form, "  ")
		p.line(".B %s", roff(form))
		p.line(".br")
	}
	p.section("DESCRIPTION")
	p.text(opening)
	p.text("Without arguments it is a prompt. Results go to standard output, messages to standard error.")
	p.section("OPTIONS")
	p.flags(b.Flags)
	p.section("COMMANDS")
	for i := range b.Commands {
		p.command(&b.Commands[i])
	}
	p.section("VERBS")
	p.text("startrace VERB POINT [EXPR] --by EXPR --where EXPR --every 1s --top 10; " +
		"startrace help VERB has all flags. In expressions e is the event.")
	p.tools(b.Verbs)
	p.section("TOOLS")
	p.tools(b.Tools)
	p.section("EXAMPLES")
	p.examples(examples)
	p.ending()
}

// ending is what does not come from the table.
func (p *page) ending() {
	p.section("EXIT STATUS")
	p.item("0", "The run is over, or what was asked for has been printed.")
	p.item("1", "Something failed: the script, the kernel, or a callback.")
	p.item("2", "The command line is wrong.")
	p.section("ENVIRONMENT")
	p.item("NO_COLOR", "If it is set and not empty, messages have no colours. On what is no terminal they never have.")
	p.section("SEE ALSO")
	p.text("perf(1), bpftrace(8), bpf(2)")
}

// A page is a man page that is written.
type page struct{ w io.Writer }

func (p *page) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

func (p *page) section(title string) { p.line(".SH %s", title) }

func (p *page) text(text string) { p.line(".PP\n%s", roff(text)) }

func (p *page) item(head, text string) { p.line(".TP\n.B %s\n%s", roff(head), roff(text)) }

func (p *page) flags(list []flags.Flag) {
	for i := range list {
		p.item(strings.TrimSpace(list[i].Head()), list[i].Help)
	}
}

func (p *page) tools(list []Tool) {
	for _, t := range list {
		p.item(t.Name, t.Summary)
	}
}

func (p *page) command(c *Command) {
	for _, form := range c.Usage {
		p.line(".SS %s", roff(strings.TrimSpace("startrace "+c.Name+" "+form)))
	}
	p.text(c.Summary)
	if c.Text != "" {
		p.text(c.Text)
	}
	p.flags(c.Flags)
	p.examples(c.Examples)
}

func (p *page) examples(list []string) {
	p.line(".PP\n.nf\n.RS")
	for _, e := range list {
		line, what, found := strings.Cut(e, "  ")
		if found {
			p.line("# %s", roff(strings.TrimSpace(what)))
		}
		p.line("%s", roff(line))
	}
	p.line(".RE\n.fi")
}

var escapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "…", "...", "`", `\(ga`, "^", `\(ha`, "~", `\(ti`)

// roff escapes a text, line by line: a dot or an apostrophe at the beginning
// of one would be a macro.
func roff(text string) string {
	lines := strings.Split(escapes.Replace(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
