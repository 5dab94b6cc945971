package usertypes

import (
	"debug/dwarf"
	"fmt"
	"strings"
	"testing"

	"github.com/startrace/startrace/internal/dwarfinfo"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/test/debuginfo"
	"github.com/startrace/startrace/test/need"
	"github.com/startrace/startrace/test/smallkernel"
)

// read gives the types of a program, and the place of each variable's type by its name.
func read(t *testing.T, path string) (*kernel.BTF, *Types, map[string]dwarf.Offset) {
	t.Helper()
	data := debuginfo.Of(t, path)
	btf, err := kernel.ParseBTF(smallkernel.BTF(t, smallkernel.Types()...))
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]dwarf.Offset{}
	units, err := data.Units()
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range units {
		root, err := u.Root()
		if err != nil {
			t.Fatal(err)
		}
		err = data.EachChild(root, func(e *dwarfinfo.Entry) (bool, error) {
			if of, ok := e.Val(dwarf.AttrType).(dwarf.Offset); ok && e.Tag == dwarf.TagVariable {
				places[nameOf(e)] = of
			}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return btf, New(data, btf), places
}

// said is a type in words: its name, and of a struct its size and fields with their places.
func said(t *testing.T, btf *kernel.BTF, id kernel.TypeID) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(btf.TypeName(id))
	is, err := btf.Type(btf.Skip(id))
	if err != nil {
		t.Fatal(err)
	}
	if is.Kind == kernel.KindStruct || is.Kind == kernel.KindUnion {
		fmt.Fprintf(&b, " %d", is.Size)
	}
	for _, name := range btf.Fields(id) {
		f, err := btf.Field(id, name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "; %d", f.Off)
		if f.BitSize != 0 {
			fmt.Fprintf(&b, ".%d/%d", f.Bit, f.BitSize)
		}
		fmt.Fprintf(&b, " %s", btf.Declaration(f.Type, name))
	}
	for _, v := range is.Enums {
		fmt.Fprintf(&b, " %s=%d", v.Name, v.Val)
	}
	if v, ok := kernel.TextOf(btf, btf.Skip(id)); ok {
		fmt.Fprintf(&b, "; text at %d, %d bytes at %d", v.Address, v.LengthSize, v.Length)
	}
	return strings.ReplaceAll(b.String(), "short int", "short") // gcc and clang call it so
}

const typesC = `
#include <stdbool.h>
struct customer { const char *name; struct order *last; };
enum state { LOST = -1, OPEN, PAID = 70000 };
typedef unsigned long money;
struct order {
	int id; struct customer *who; money price[2][3]; enum state state;
	unsigned urgent : 1, weight : 12; signed char sign : 3; bool gift;
	union { double ratio; struct { short a, b; }; }; void (*done)(struct order *);
	volatile const char note[16]; struct { int x; } point; char rest[];
} an_order;
enum state a_state;
struct hidden *a_hidden;
int main(void) { return an_order.id; }
`

// TestC compares types of C, by the ways in which compilers tell them.
func TestC(t *testing.T) {
	for _, command := range []string{"gcc -g", "gcc -gdwarf-2 -gstrict-dwarf", "gcc -gdwarf-4", "clang -g",
		"clang -gdwarf-4"} {
		t.Run(command, func(t *testing.T) {
			btf, types, places := read(t, need.Built(t, command, "types.c", typesC))
			for variable, want := range map[string]string{
				"an_order": "struct order 112; 0 int id; 8 struct customer *who; 16 money price[2][3]; " +
					"64 enum state state; " +
					"68.0/1 unsigned int urgent; 68.1/12 unsigned int weight; 69.5/3 signed char sign; " +
					"70 _Bool gift; " +
					"72 double ratio; 72 short a; 74 short b; 80 void (*done)(void); " +
					"88 char note[16]; 104 struct {…} point; 108 char rest[0]",
				"a_state":  "enum state LOST=-1 OPEN=0 PAID=70000",
				"a_hidden": "struct hidden *",
			} {
				id, err := types.At(places[variable])
				if err != nil {
					t.Fatal(err)
				}
				if got := said(t, btf, id); got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			// What a pointer leads to is there once it is asked for, and it leads back to the same.
			order, _ := types.At(places["an_order"])
			who, err := btf.Field(order, "who")
			if err != nil {
				t.Fatal(err)
			}
			to, _ := btf.Type(btf.Skip(who.Type))
			want := "struct customer 16; 0 char *name; 8 struct order *last"
			if got := said(t, btf, to.Elem); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			last, err := btf.Field(to.Elem, "last")
			if err != nil {
				t.Fatal(err)
			}
			back, _ := btf.Type(btf.Skip(last.Type))
			if btf.Skip(back.Elem) != btf.Skip(order) || !btf.OfProgram(order) {
				t.Errorf("leads to %d, not to %d", back.Elem, order)
			}
		})
	}
}

const typesCPP = `
#include <memory>
#include <string>
#include <string_view>
namespace shop {
struct base { int id; virtual ~base() {} };
struct item { static int count; std::string name; std::string_view view; };
struct order : base, item { long price; const item &first; order(const item &i) : first(i) {} };
}
shop::item an_item;
shop::order an_order(an_item);
int main() { return an_order.id; }
`

// TestCPP: bases are members without a name, references pointers, and strings are marked.
func TestCPP(t *testing.T) {
	for _, command := range []string{"g++ -g", "g++ -gdwarf-4"} {
		btf, types, places := read(t, need.Built(t, command, "types.cc", typesCPP))
		id, err := types.At(places["an_order"])
		if err != nil {
			t.Fatal(err)
		}
		want := "struct order 80; 0 void (**_vptr.base)(void); 8 int id; 16 string name; 48 string_view view; " +
			"64 long int price; 72 item & first"
		if got := said(t, btf, id); got != want {
			t.Errorf("%s: got  %s\nwant %s", command, got, want)
		}
		for field, want := range map[string]kernel.TextView{
			"name": {Address: 0, Length: 8, LengthSize: 8}, "view": {Address: 8, Length: 0, LengthSize: 8},
		} {
			f, err := btf.Field(id, field)
			if err != nil {
				t.Fatal(err)
			}
			if got, ok := kernel.TextOf(btf, btf.Skip(f.Type)); !ok || got != want {
				t.Errorf("%s: %s: got %v, %v", command, field, got, ok)
			}
		}
	}
}

const typesGo = `package main
type order struct { id int32; name string; who *customer; prices []int; next map[string]*order; done func(int) bool }
type customer struct { last *order; err error }
var anOrder order
func main() {
	println(anOrder.id, anOrder.name, anOrder.who, len(anOrder.prices), len(anOrder.next), anOrder.done == nil)
}
`

func TestGo(t *testing.T) {
	btf, types, places := read(t, need.Built(t, "go build", "types.go", typesGo))
	id, err := types.At(places["main.anOrder"])
	if err != nil {
		t.Fatal(err)
	}
	want := "main.order 72; 0 int32 id; 8 struct string name; 24 main.customer *who; 32 struct []int prices; " +
		"56 map[string]*main.order next; 64 func(int) bool done"
	if got := said(t, btf, id); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
