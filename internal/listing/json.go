package listing

import (
	"encoding/json"
	"io"

	"github.com/startrace/startrace/internal/escape"
)

// WriteJSON writes an object for each point, type and kind, a line each.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := jsonTo(w)
	for _, k := range r.Kinds {
		if err := enc.Encode(k); err != nil {
			return err
		}
	}
	err := r.writePoints(w, func(out *writer, p *Point) {
		if err := jsonTo(out).Encode(p.escaped(escape.Bytes)); out.err == nil {
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

func jsonTo(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(escape.JSONWriter{W: w})
	enc.SetEscapeHTML(false)
	return enc
}
