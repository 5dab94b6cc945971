package ctypes

import (
	"errors"
	"reflect"
	"testing"
)

// A prototype is read with the names and types that it has.
func TestPrototypes(t *testing.T) {
	for text, want := range map[string]Prototype{
		"void sync(void);":                 {Name: "sync", Result: "void"},
		"int f();":                         {Name: "f", Result: "int"},
		"unsigned int *f(char **const p);": {Name: "f", Result: "unsigned int *", Params: []Spelled{{"p", "char **"}}},
		"int open(const char *name, int flags, ...);": {Name: "open", Result: "int", More: true,
			Params: []Spelled{{"name", "char *"}, {"flags", "int"}}},
		"extern void sort(void *base, size_t n, int (*less)(const void *, int (*)(void)));": {Name: "sort",
			Result: "void", Params: []Spelled{{"base", "void *"}, {"n", "size_t"}, {"less", FunctionPointer}}},
		"struct tm *f(volatile struct stat *restrict of /* whose */);": {Name: "f", Result: "struct tm *",
			Params: []Spelled{{"of", "struct stat *"}}},
	} {
		got, err := Prototypes("\n" + text + "\n")
		if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s is read as %+v (%v), want %+v", text, got, err, want)
		}
	}
}

// Of what is no prototype the place is said.
func TestPrototypeMistakes(t *testing.T) {
	for text, want := range map[string]Error{
		"int f(int a)":         {1, 13, "got the end of the text, want ; behind the prototype"},
		"int f;":               {1, 6, "got ;, want ( behind the name of the function"},
		"int f(int);":          {1, 10, "got ), want a type and a name"},
		"int f(int a,\n * b);": {2, 4, "got b, want a type and a name"},
		"int f(int (*g)(int);": {1, 20, "got ;, want , or ) behind the parameter"},
		"int f(int (*g)(int":   {1, 19, "the parameters have no end: ) is missing"},
		"int f(int (*g":        {1, 14, "got the end of the text, want ) behind the name"},
		"f(int a);":            {1, 2, "got (, want a type and a name"},
		"int":                  {1, 4, "got the end of the text, want a type and a name"},
		"int f(char a[2]);":    {1, 13, "got [, want , or ) behind the parameter"},
		"int f(/* no end":      {1, 7, "this comment has no end: */ is missing"},
	} {
		_, err := Prototypes(text)
		var at *Error
		if !errors.As(err, &at) || *at != want {
			t.Errorf("%q: %+v, want %+v", text, err, want)
		}
	}
}
