package gofunc

import "testing"

func TestSteppable(t *testing.T) {
	for code, ok := range map[string]bool{
		"\x55": true, "\xf3\x0f\x1e\xfa": true, "\x66\x0f\xef\xc0": true, "\x48\x89\xe5": true, "": true,
		"\xf0\x0f\xba\xaf": false, "\x2e\x66\x0f\x1f": false, "\x66\xf0\xff\x0f": false, "\xc5\xf9\x6e\xc6": false, "\x62\xf2\x7d\x28": false,
	} {
		if err := Steppable("amd64", []byte(code)); (err == nil) != ok {
			t.Errorf("% x: %v", code, err)
		}
	}
	if err := Steppable("arm64", []byte{0xf0, 0, 0, 0}); err != nil {
		t.Error(err)
	}
}
