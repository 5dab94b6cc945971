package manual

import (
	_ "embed"
)

// The scripts that bash, zsh and fish load.

//go:embed completion.bash
var bash string

//go:embed completion.zsh
var zsh string

//go:embed completion.fish
var fish string

// ShellNames are the shells that can complete.
var ShellNames = []string{"bash", "zsh", "fish"}

// Completion is what a shell runs. It asks `startrace complete`, so that tools
// and points are those of this machine.
func Completion(shell string) (string, bool) {
	text, ok := map[string]string{"bash": bash, "zsh": zsh, "fish": fish}[shell]
	return text, ok
}
