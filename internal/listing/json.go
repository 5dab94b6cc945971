package listing

import (
	"io"

	"github.com/startrace/startrace/internal/escape"
)

// `startrace list --format json`, an object a line.

// WriteJSON writes an object for each point, type and kind, a line each.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := escape.JSONEncoder(w)
	for _, k := range r.Kinds {
		if err := enc.Encode(k); err != nil {
			return err
		}
	}
	err := r.writePoints(w, func(out *writer, p *Point) {
		if err := escape.JSONEncoder(out).Encode(p.escaped(escape.Bytes)); out.err == nil {
			out.err = err
		}
	})
	if err != nil {
		return err
	}
	for _, l := range r.Types {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return nil
}
