package prompt

import "github.com/startrace/startrace/starlark/repl"

// The words of the prompt (help, list, reload, save, wait, edit, go) with what help says of each, a row each.

// wordTable has the words that only the prompt has. They are called with one argument, or none (nil).
func wordTable() map[string]promptWord {
	return map[string]promptWord{
		"help": {"help(x)",
			"Explains a builtin, a function, a container, a probe, a module of the standard library or a constant.",
			(*prompt).help, repl.Texts},
		"list": {`list("PATTERN")`,
			"Shows what can be probed, as `startrace list -v` does. Of anything else it makes a list, as in scripts.",
			(*prompt).listWord, repl.Points},
		"reload": {`reload("FILE")`, "Runs a file again, or a tool: its probes take the place of those that it " +
			"declared before. load(\"FILE\") is the same.", (*prompt).reload, repl.Modules},
		"save": {`save("FILE")`, "Writes what was typed and still stands as a script.", (*prompt).save, repl.Files},
		"wait": {"wait(duration)", "Delivers events for a time: wait(\"2s\"). " +
			"wait() goes on until the command of -c has ended and its events are handled. Ctrl-C ends it.",
			(*prompt).wait, repl.Texts},
		"edit": {"edit()", "Opens what was entered last in $VISUAL or $EDITOR. " +
			"What that saves stands in the next line.", (*prompt).edit, repl.Texts},
		"go": {"go()", "Lets the command of -c run, again if it has ended. " +
			"It waits for that, so that its probes are there first.", (*prompt).goOn, repl.Texts},
	}
}

// addWords defines the words of the prompt, and probes.
func (p *prompt) addWords() {
	p.words = wordTable()
	words := p.s.Host().Predeclared()
	for name, w := range p.words {
		words[name] = &wordValue{name, w, p}
	}
	words["probes"] = probeList{p}
}
