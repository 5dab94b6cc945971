// Package command is what startrace does without a script: it lists what can be
// probed, the tools and the pages of the manual, says what is wrong with the
// machine, and completes words for shells.
package command
