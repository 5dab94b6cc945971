package binary

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/startrace/startrace/internal/elffile"
	"github.com/startrace/startrace/test/need"
)

// What is known of a file is forgotten with it, whatever it is: each map of a Finder has the paths of files.
func TestForgetForgetsAll(t *testing.T) {
	path := need.Built(t, "gcc", "forgotten.c", "int main(void) { return 0; }\n")
	e, err := elffile.Open(path, elffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &Finder{}
	maps := 0
	each := func(use func(field reflect.StructField, m reflect.Value)) {
		v := reflect.ValueOf(f).Elem()
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.Type.Kind() == reflect.Map {
				use(field, reflect.NewAt(field.Type, unsafe.Pointer(v.Field(i).UnsafeAddr())).Elem())
			}
		}
	}
	each(func(field reflect.StructField, m reflect.Value) {
		maps++
		m.Set(reflect.MakeMap(field.Type))
		value := reflect.Zero(field.Type.Elem())
		if field.Type.Elem() == reflect.TypeFor[*elffile.File]() {
			value = reflect.ValueOf(e)
		}
		m.SetMapIndex(reflect.ValueOf(path), value)
	})
	if err := f.Forget(path); err != nil || maps == 0 {
		t.Fatalf("%d maps, %v", maps, err)
	}
	each(func(field reflect.StructField, m reflect.Value) {
		if m.Len() > 0 {
			t.Errorf("%s is still known of the file", field.Name)
		}
	})
}
