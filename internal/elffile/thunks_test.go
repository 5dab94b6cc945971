package elffile

import "testing"

// The names of thunks say how far they move the pointer, and of which function they are.
func TestThunkNames(t *testing.T) {
	for name, want := range map[string]string{
		"_ZThn16_N4both3setEi": "N4both3setEi", "_ZTv0_n24_N6sharedD1Ev": "N6sharedD1Ev", "_ZTh8_N1a1bEv": "N1a1bEv",
		"_ZTV4both": "", "_ZTI4both": "",
	} {
		got := ""
		if of := thunkName().FindStringSubmatch(name); of != nil {
			got = of[1]
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
