package accept

import "testing"

// wideEnums is a program of Rust with enums of which rustc makes the number of the variant as wide as what they hold.
const wideEnums = `pub enum Size { Wide(u128), Narrow(u8), Nothing }
pub struct All {
    pub some: Option<i128>,
    pub none: Option<u128>,
    pub negative: Option<i128>,
    pub list: Vec<Option<u128>>,
    pub array: Option<[u128; 2]>,
    pub pair: Option<(u128, u8)>,
    pub wide: Size,
    pub narrow: Size,
    pub nothing: Size,
    pub result: Result<u128, u8>,
}
#[inline(never)]
#[no_mangle]
pub fn show(a: &All, n: u8) -> u8 {
    std::hint::black_box(a);
    n
}
fn main() {
    let a = All {
        some: Some(5), none: None, negative: Some(-1), list: vec![Some(1), None], array: Some([1, 2]), pair: None,
        wide: Size::Wide(1 << 64), narrow: Size::Narrow(7), nothing: Size::Nothing, result: Ok(3),
    };
    std::process::exit(show(&a, 0) as i32);
}
`

// An enum is the same whatever the width of the number is that tells its variants.
func TestWideEnumsOfRust(t *testing.T) {
	const probes = `
n = count()
def show(e):
    a = e.args.a
    print(a.some, a.none, a.negative, a.list[0], a.list[1], a.array, a.pair, a.none == None)
    print(a.wide.variant, a.wide.Wide, a.narrow.variant, a.narrow.Narrow, a.narrow.Wide, a.nothing.variant, a.result.Ok)
probe("uprobe:BIN:show", show)
probe("uprobe:BIN:show", lambda e: n["None"].add(), where = lambda e: e.args.a.none == None and e.args.a.pair == None)
probe("uprobe:BIN:show", lambda e: n[e.args.a.narrow.variant].add(), where = lambda e: e.args.a.some != None)
at_exit(lambda: print(sorted(n.items())))
`
	const want = `(5, 0) None (18446744073709551615, -1) (1, 0) None ((1, 0), (2, 0)) None True, ` +
		`Wide (0, 1) Narrow 7 None Nothing (3, 0), [("Narrow", 1), ("None", 1)]`
	for _, level := range []string{"0", "2"} {
		if got := printed(t, "rustc -g -C opt-level="+level, "wide.rs", wideEnums, probes); got != want {
			t.Errorf("level %s: got %s\nwant %s", level, got, want)
		}
	}
}
