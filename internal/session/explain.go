package session

import "errors"

// Stages are the stages of the compiler that explain shows.
type Stages struct{ Types, IR, Asm bool }

func Explain(o Options, st Stages) (int, error) { return Failed, errors.New("later") }
