package accept

import "testing"

// chars is a program of Rust with arrays of chars, which are numbers of 4 bytes there.
const chars = `pub struct All {
    pub array: [char; 3],
    pub emoji: [char; 1],
    pub list: Vec<char>,
    pub some: Option<[char; 2]>,
    pub boxed: Box<[char]>,
    pub pair: (char, [char; 2]),
}
#[inline(never)]
#[no_mangle]
pub fn show(a: &All) -> u32 {
    std::hint::black_box(a);
    0
}
fn main() {
    let a = All {
        array: ['A', 'é', '😀'], emoji: ['😀'], list: vec!['A', 'é'], some: Some(['x', 'y']), boxed: vec!['q'].into(),
        pair: ('p', ['q', 'r']),
    };
    std::process::exit(show(&a) as i32);
}
`

// A char of Rust is a number, also in an array, which is no string of C.
//
// > A `char` of Rust is a number, as a `rune` of Go is.
func TestCharsOfRust(t *testing.T) {
	const probes = `
n = count()
def show(e):
    a = e.args.a
    print(a.array, len(a.array), a.array[1], a.emoji, a.list, a.some, a.boxed, a.pair)
probe("uprobe:BIN:show", show)
probe("uprobe:BIN:show", lambda e: n[e.args.a.array[0]].add(), where = lambda e: e.args.a.array[2] == 0x1f600)
at_exit(lambda: print(n.items()))
`
	const want = `(65, 233, 128512) 3 233 (128512,) (65, 233) (120, 121) (113,) (112, (113, 114)), ` +
		`[(65, 1)]`
	for _, level := range []string{"0", "2"} {
		if got := printed(t, "rustc -g -C opt-level="+level, "chars.rs", chars, probes); got != want {
			t.Errorf("level %s: got %s\nwant %s", level, got, want)
		}
	}
}
