package kernel

import (
	"slices"
	"testing"
)

func TestIntNames(t *testing.T) {
	for spelled, want := range map[string][]string{
		"long":                   {"long int", "long"},
		"unsigned long":          {"long unsigned int", "unsigned long"},
		"long unsigned int":      {"long unsigned int", "unsigned long"},
		"unsigned":               {"unsigned int", "unsigned"},
		"short":                  {"short int", "short"},
		"unsigned long long int": {"long long unsigned int", "unsigned long long"},
		"signed int":             {"int", ""},
		"unsigned char":          {"unsigned char"},
		"pid_t":                  {"pid_t"},
	} {
		if got := intNames(spelled); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", spelled, got, want)
		}
	}
}
