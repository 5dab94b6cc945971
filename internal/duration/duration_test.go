package duration

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"5ms": 5e6, "100ns": 100, "1.5s": 15e8, "1h30m": 5400e9, "20us": 20e3, "3µs": 3000, "0": 0, "2d": 172800e9,
		"1m1s": 61e9, "2min": 120e9, "1d12h": 129600e9,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%s: %d %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "ms", "5 ms", "-5ms", "5msx", "1e3s", "99999999999d"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q gave %d", text, got)
		}
	}
}

// FuzzParse reads any text as a duration: none is negative.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"1s", "1.5ms", "1h30m", "9223372036854775807ns", "999999999999h", "-1s", "1", "s",
		".5s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := Parse(text); err == nil && d < 0 {
			t.Errorf("%q is %d ns", text, d)
		}
	})
}
