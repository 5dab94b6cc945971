package listing

import (
	"encoding/json"
	"io"
)

// WriteJSON writes an object for each point, type and kind, a line each.
func (r *Result) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, k := range r.Kinds {
		if err := enc.Encode(k); err != nil {
			return err
		}
	}
	for p := range r.All() {
		if err := enc.Encode(p); err != nil {
			return err
		}
	}
	for _, l := range r.Types {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return nil
}
