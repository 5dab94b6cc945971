// Package mutate changes good scripts at random, so that tests can see that a
// mistake gives a message for the author of the script: never a panic, never a
// program that the kernel's verifier rejects.
//
// A change is one of characters, of words (tokens) or of whole expressions
// (subtrees). What a seed gives is the same on every machine and at any time,
// as long as the scripts that it starts from are.
package mutate
