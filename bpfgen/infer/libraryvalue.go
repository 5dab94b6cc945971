package infer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/startrace/startrace/bpfgen/tree"
	"github.com/startrace/startrace/bpfgen/types"
	"github.com/startrace/startrace/internal/kernel"
	"github.com/startrace/startrace/internal/plan"
)

// Types of the libraries of C++ and Rust that stand for something else: smart pointers, optionals, wrappers, sizes of
// containers.
//
// Classes of C++'s library that are read as what they stand for: a std::unique_ptr and a std::shared_ptr as the pointer
// in them, a std::optional as what it holds, or None. So are the types of Rust's library. Of containers that are no
// lists the number of elements is read. What they are made of is known by the names of members (of libstdc++ since gcc
// 5), places by the debug information alone: where a library has other members, its classes are the structs that they
// are.

// A path leads from a class to a member of a member …. A step `<Name` is a base whose name begins so, since the deleter
// of a std::unique_ptr lies in a member of the same name in another base. In a step `member Name` the member has a type
// whose name begins so: a class of one's own that is called Cell, too, is none of the library's.
type path []string

// pointerForms are the classes that are pointers, by what their names begin with. What is pointed to is a member of
// what the pointer in them leads to, if inside names one.
var pointerForms = []struct {
	name   string
	to     path
	inside string
}{
	{"unique_ptr<", path{"_M_t", "_M_t", "<_Head_base<0", "_M_head_impl"}, ""},
	{"unique_ptr<", path{"_M_t", "<_Head_base<0", "_M_head_impl"}, ""}, // until gcc 6
	{"shared_ptr<", path{"_M_ptr"}, ""},
	{"Rc<", path{"ptr NonNull<", "pointer"}, "value"},
	{"Arc<", path{"ptr NonNull<", "pointer"}, "data"},
	{weakForm, path{"ptr NonNull<", "pointer"}, "value"},
	{weakForm, path{"ptr NonNull<", "pointer"}, "data"},
	{"alloc::boxed::Box<dyn ", path{"pointer"}, ""},
}

// weakForm is what the name of a pointer begins with that does not keep what it leads to.
const weakForm = "Weak<"

// unreadForms are pointers of which nobody knows what they lead to: where that begins stands in a table of the program.
var unreadForms = []string{"Rc<dyn ", "Arc<dyn ", "Weak<dyn ", "Weak<[", "Weak<str,"}

// wrapperForms are the types that are what is in them, by what their names begin with.
var wrapperForms = []struct {
	name string
	held path
}{
	{"NonZero<", path{"__0", "__0"}},
	{"NonZero<", path{"__0"}}, // until Rust 1.80
	{"Cell<", path{"value UnsafeCell<", "value"}},
}

// optionalForms are the classes that hold a value or none.
var optionalForms = []struct {
	name        string
	there, held path
}{
	{"optional<", path{"_M_payload", "_M_engaged"}, path{"_M_payload", "_M_payload", "_M_value"}},
	{"optional<", path{"_M_payload", "_M_engaged"}, path{"_M_payload", "_M_payload"}}, // until gcc 8
}

// counterForms are the containers that keep the number of their elements.
var counterForms = []struct {
	names []string
	count path
}{
	{[]string{"map<", "set<", "multimap<", "multiset<"}, path{"_M_t", "_M_impl", "_M_node_count"}},
	{[]string{"unordered_map<", "unordered_set<", "unordered_multimap<", "unordered_multiset<"},
		path{"_M_h", "_M_element_count"}},
	{[]string{"list<"}, path{"_M_impl", "_M_node", "_M_size"}},
	{[]string{"HashMap<"}, path{"base", "table", "table", "items"}},
	{[]string{"HashSet<"}, path{"base", "map", "table", "table", "items"}},
	{[]string{"BTreeMap<"}, path{"length"}},
	{[]string{"BTreeSet<"}, path{"map", "length"}},
	{[]string{"VecDeque<", "LinkedList<"}, path{"len"}},
	{[]string{"BinaryHeap<"}, path{"data", "len"}},
}

// library reads classes of C++'s library in one program.
type library struct{ *body }

// classNamed is the class of a program that a type is; false where it is none.
func (b library) classNamed(id kernel.TypeID, pos plan.Pos) (kernel.Type, bool) {
	if id == 0 {
		return kernel.Type{}, false
	}
	btf := b.u.btf(pos)
	t, err := kernel.Outline(btf, btf.Skip(id))
	return t, err == nil && t.Kind == kernel.KindStruct && btf.OfProgram(t.ID)
}

// member finds what a path leads to, and how far from the beginning of the class it lies.
func (b library) member(id kernel.TypeID, way path, pos plan.Pos) (f kernel.Field, ok bool) {
	btf := b.u.btf(pos)
	off := 0
	for _, step := range way {
		next, ok := b.step(id, step, pos)
		if !ok || next.BitSize != 0 {
			return f, false
		}
		off += next.Off
		f, id = next, btf.Skip(next.Type)
	}
	f.Off = off
	return f, true
}

// step finds what one step of a path leads to.
func (b library) step(id kernel.TypeID, step string, pos plan.Pos) (f kernel.Field, ok bool) {
	if base, isBase := strings.CutPrefix(step, "<"); isBase {
		return b.base(id, base, 0, pos)
	}
	btf := b.u.btf(pos)
	name, of, typed := strings.Cut(step, " ")
	if !kernel.HasField(btf, id, name) {
		return f, false
	}
	f, err := btf.Field(id, name)
	if err != nil || !typed {
		return f, err == nil
	}
	t, err := btf.Type(btf.Skip(f.Type))
	return f, err == nil && strings.HasPrefix(t.Name, of)
}

// maxBases bounds how deep bases lie in bases: a std::tuple has one in the other for each of its elements.
const maxBases = 64

// base is the base of a class, or of one of its bases, whose name begins so.
func (b library) base(id kernel.TypeID, name string, depth int, pos plan.Pos) (f kernel.Field, ok bool) {
	btf := b.u.btf(pos)
	t, err := btf.Type(btf.Skip(id))
	if err != nil || depth > maxBases {
		return f, false
	}
	for _, m := range t.Members {
		of, err := btf.Type(btf.Skip(m.Type))
		if m.Name != "" || err != nil || of.Kind != kernel.KindStruct {
			continue
		}
		if strings.HasPrefix(of.Name, name) {
			return kernel.Field{Name: of.Name, Off: m.Off, Type: of.ID}, true
		}
		if f, ok = b.base(of.ID, name, depth+1, pos); ok {
			f.Off += m.Off
			return f, true
		}
	}
	return f, false
}

// part reads a member of a class, wherever the class is.
func (b library) part(x val, f kernel.Field, pos plan.Pos) val {
	switch o := x.obj.(type) {
	case *structObj:
		at := o.memPlace
		at.off += int64(f.Off)
		return b.memory().read(at, f.Type, f.Name, pos)
	case *regStruct:
		return o.part(b.body, f, pos)
	}
	return unknownPlace(pos)
}

// meant is what a class of C++'s library stands for, or an enum or a tuple of Rust; x where it is none.
func (b library) meant(x val, id kernel.TypeID, pos plan.Pos) val {
	t, ok := b.classNamed(id, pos)
	if ok && strings.HasPrefix(t.Name, "(") {
		return b.tuple(x, rustElements(nil, len(b.u.btf(pos).Fields(t.ID))), pos)
	}
	if o, is := b.enumOf(x, pos); ok && is {
		return b.valueOf(o, pos)
	}
	if !ok || !strings.HasSuffix(t.Name, ">") {
		return x
	}
	for _, form := range pointerForms {
		if !strings.HasPrefix(t.Name, form.name) {
			continue
		}
		f, ok := b.member(t.ID, form.to, pos)
		to, err := b.u.btf(pos).Type(b.u.btf(pos).Skip(f.Type))
		if !ok || err != nil || to.Kind != kernel.KindPtr {
			continue
		}
		if form.inside == "" {
			return b.part(x, f, pos)
		}
		if inner, ok := b.member(b.u.btf(pos).Skip(to.Elem), path{form.inside}, pos); ok {
			p := b.pointerInto(b.part(x, f, pos), inner, pos)
			if form.name == weakForm {
				return b.unlessDropped(p, b.part(x, f, pos), to.Elem, pos)
			}
			return p
		}
	}
	if slices.ContainsFunc(unreadForms, func(name string) bool { return strings.HasPrefix(t.Name, name) }) {
		return unknownKind(pos)
	}
	if elems := b.tupleElements(t, pos); len(elems) > 0 {
		return b.tuple(x, elems, pos)
	}
	for _, form := range wrapperForms {
		if held, ok := b.member(t.ID, form.held, pos); ok && strings.HasPrefix(t.Name, form.name) {
			return b.part(x, held, pos)
		}
	}
	for _, form := range optionalForms {
		if !strings.HasPrefix(t.Name, form.name) {
			continue
		}
		there, ok := b.member(t.ID, form.there, pos)
		held, ok2 := b.member(t.ID, form.held, pos)
		if ok && ok2 {
			return b.optional(x, there, held, pos)
		}
	}
	return x
}

// tupleElements are the ways to the elements of a std::tuple, each of which is a member of a base of its own; nil where
// a class is none, or the bases lie deeper than they are looked for. An element without anything in it can have no
// member.
func (b library) tupleElements(t kernel.Type, pos plan.Pos) (ways []path) {
	if !strings.HasPrefix(t.Name, "tuple<") {
		return nil
	}
	base := func(name string) (path, bool) {
		for _, end := range []string{",", "U"} { // g++ has the number as 0, clang++ as 0UL
			way := path{fmt.Sprint("<", name, "<", len(ways), end)}
			if _, ok := b.member(t.ID, way, pos); ok {
				return way, true
			}
		}
		return nil, false
	}
	for head, ok := base("_Head_base"); ok; head, ok = base("_Head_base") {
		ways = append(ways, append(head, "_M_head_impl"))
	}
	if _, more := base("_Tuple_impl"); more {
		return nil
	}
	return ways
}

// optional is what a std::optional holds, None where that is nothing: of a class in memory its address.
func (b library) optional(x val, there, held kernel.Field, pos plan.Pos) val {
	is := b.rv(b.part(x, there, pos), pos)
	return b.ifThere(is, b.part(unlessLost(is, x), held, pos), pos)
}

// unlessLost is a value in parts, of which one, is, tells what the others mean. Where nobody knows that one, the others
// mean nothing, though they may have a place: it is a value that has none.
func unlessLost(is *tree.Expr, x val) val {
	if !isLost(is) {
		return x
	}
	return objVal(&regStruct{id: structOf(x), nowhere: true})
}

// ifThere is v where is holds, else None.
func (b library) ifThere(is *tree.Expr, v val, pos plan.Pos) val {
	if isLost(is) {
		return b.lostValue(v, pos)
	}
	if is.Op == tree.OpUnreadable {
		return exprVal(is)
	}
	return exprVal(orFault(is, pos, func(is *tree.Expr) *tree.Expr {
		return orNone(as(is, types.Boolean, pos), b.held(v, pos), pos)
	}))
}

// lostValue is what an optional holds of which nobody knows where it is: of a class the address, as of one in memory,
// so that it has the fields that the class has, all of them lost.
func (b library) lostValue(v val, pos plan.Pos) val {
	s, ok := v.obj.(*regStruct)
	if !ok {
		return v
	}
	t := b.memory().addressType(s.id, pos)
	return exprVal(&tree.Expr{Op: tree.OpUnreadable, Type: t.OrFault(), Int: tree.Lost, Pos: pos})
}

// pointerInto is the address of a member of what a pointer leads to, and 0 where that is 0.
func (b library) pointerInto(p val, inner kernel.Field, pos plan.Pos) val {
	word := b.rv(p, pos)
	t := b.memory().addressType(inner.Type, pos)
	if word.Op == tree.OpUnreadable {
		return exprVal(&tree.Expr{Op: tree.OpUnreadable, Type: t.OrFault(), Int: word.Int, Pos: pos})
	}
	return exprVal(orFault(word, pos, func(word *tree.Expr) *tree.Expr {
		off := conditional(isNull(word, pos), intExpr(0, pos), intExpr(int64(inner.Off), pos), pos)
		return as(operation(tree.OpAdd, types.U64, as(word, types.U64, pos), off, pos), t, pos)
	}))
}

// unlessDropped is where a Weak leads, and 0 where that was dropped, since no Rc or Arc keeps it any more (strong), or
// was never there: Weak::new() leads to the last address.
func (b library) unlessDropped(p, counts val, of kernel.TypeID, pos plan.Pos) val {
	word, to := b.rv(counts, pos), b.rv(p, pos)
	strong, ok := b.member(b.u.btf(pos).Skip(of), path{"strong"}, pos)
	if word.Op == tree.OpUnreadable || !ok {
		return p
	}
	return exprVal(orFault(word, pos, func(word *tree.Expr) *tree.Expr {
		zero := as(intExpr(0, pos), to.Type, pos)
		address := as(word, types.U64, pos)
		n := load(memPlace{address, int64(strong.Off), tree.User, b.body}, types.U64, pos)
		kept := orFault(n, pos, func(n *tree.Expr) *tree.Expr { return conditional(isNull(n, pos), zero, to, pos) })
		never := operation(tree.OpEq, types.Boolean, address, as(intExpr(-1, pos), types.U64, pos), pos)
		return conditional(never, as(zero, kept.Type, pos), kept, pos)
	}))
}

// held is a value that a std::optional may hold: of a class in memory the address, and of a tuple each element so.
func (b library) held(v val, pos plan.Pos) *tree.Expr {
	if o, ok := v.obj.(*rustEnum); ok {
		v = b.heldEnum(o, pos)
	}
	if v.comp {
		return b.rv(v.eachPart(func(e val) val { return exprVal(b.held(e, pos)) }), pos)
	}
	s, ok := v.obj.(*structObj)
	if !ok {
		return b.rv(v, pos)
	}
	return as(s.value(b.body, pos), b.memory().addressType(s.id, pos), pos)
}

// size is len(x) of a container of C++'s library that is no list; false where x is none.
func (b library) size(x val, pos plan.Pos) (n val, ok bool) {
	count, deque := b.counter(structOf(x), pos)
	if count.Type == 0 && !deque {
		return n, false
	}
	at := memPlace{}
	if s, is := x.obj.(*structObj); is {
		at = s.memPlace
	}
	return b.attributes().inPlace(at, func(at *body) val {
		if deque {
			return library{at}.sizeOfDeque(x, pos)
		}
		return library{at}.counted(x, count, pos)
	}), true
}

// counter is the member of a container that says how many elements it has, of the type 0 where it is none that keeps
// such a number. A std::deque keeps none, and has a number all the same.
func (b library) counter(id kernel.TypeID, pos plan.Pos) (count kernel.Field, deque bool) {
	t, ok := b.classNamed(id, pos)
	if !ok {
		return count, false
	}
	for _, form := range counterForms {
		begins := func(name string) bool { return strings.HasPrefix(t.Name, name) }
		if f, ok := b.member(t.ID, form.count, pos); ok && slices.ContainsFunc(form.names, begins) {
			return f, false
		}
	}
	_, _, deque = b.dequeEnds(t.ID, pos)
	return count, deque && strings.HasPrefix(t.Name, "deque<")
}

// counted is a number of elements. Of a container that is damaged, or not made yet, it can be any.
func (b library) counted(x val, f kernel.Field, pos plan.Pos) val {
	n := b.rv(b.part(x, f, pos), pos)
	if n.Op == tree.OpUnreadable {
		return exprVal(n)
	}
	return exprVal(orFault(n, pos, func(n *tree.Expr) *tree.Expr {
		return lengthWithin(as(n, types.U64, pos), maxListBytes, func(n *tree.Expr) *tree.Expr { return n }, pos)
	}))
}

// A std::deque has its elements in blocks of one size, whose addresses stand one behind the other. Its ends each say
// where they are in a block (_M_cur), where that begins and ends (_M_first, _M_last) and which one it is (_M_node).
var dequeWays = []path{
	{"_M_impl", "_M_start", "_M_cur"}, {"_M_impl", "_M_start", "_M_first"}, {"_M_impl", "_M_start", "_M_last"},
	{"_M_impl", "_M_start", "_M_node"}, {"_M_impl", "_M_finish", "_M_cur"}, {"_M_impl", "_M_finish", "_M_first"},
	{"_M_impl", "_M_finish", "_M_node"},
}

// dequeEnds finds these members, and the size of the elements.
func (b library) dequeEnds(id kernel.TypeID, pos plan.Pos) (ends []kernel.Field, elem int, ok bool) {
	btf := b.u.btf(pos)
	for _, way := range dequeWays {
		f, ok := b.member(id, way, pos)
		t, err := btf.Type(btf.Skip(f.Type))
		if !ok || err != nil || t.Kind != kernel.KindPtr {
			return nil, 0, false
		}
		if ends = append(ends, f); len(ends) == 1 {
			elem, _ = btf.Size(btf.Skip(t.Elem))
		}
	}
	return ends, elem, elem > 0
}

// sizeOfDeque is how many elements a std::deque has: those of its first block, of its last one and of those between.
func (b library) sizeOfDeque(x val, pos plan.Pos) val {
	fields, elem, _ := b.dequeEnds(structOf(x), pos)
	ends := make([]*tree.Expr, 0, len(fields))
	for _, f := range fields {
		word, known := b.word(x, f, pos)
		if !known {
			return unknownPlace(pos)
		}
		ends = append(ends, word)
	}
	return exprVal(allOrFault(ends, pos, func(is []*tree.Expr) *tree.Expr { return elementsBetween(is, elem, pos) }))
}

// word is the address that a member is, which would be a string if it were one of chars.
func (b library) word(x val, f kernel.Field, pos plan.Pos) (*tree.Expr, bool) {
	o, ok := x.obj.(*structObj)
	if !ok {
		return nil, false
	}
	at := o.memPlace
	at.off += int64(f.Off)
	return load(at, types.U64, pos), true
}

// allOrFault is f of all words, FAULT where one of them is that.
func allOrFault(words []*tree.Expr, pos plan.Pos, f func([]*tree.Expr) *tree.Expr) *tree.Expr {
	present := make([]*tree.Expr, len(words))
	for i, w := range words {
		present[i] = as(assume(w), types.U64, pos)
	}
	out := f(present)
	for _, w := range words {
		fault := &tree.Expr{Op: tree.OpIsFault, Type: types.Boolean, Args: []*tree.Expr{w}, Pos: pos}
		out = chooseFault(fault, out, pos)
	}
	return out
}

// elementsBetween computes what sizeOfDeque gives, of elements of elem bytes each.
func elementsBetween(ends []*tree.Expr, elem int, pos plan.Pos) *tree.Expr {
	minus := func(x, y *tree.Expr) *tree.Expr { return operation(tree.OpSub, types.U64, x, y, pos) }
	plus := func(x, y *tree.Expr) *tree.Expr { return operation(tree.OpAdd, types.U64, x, y, pos) }
	cur, first, last, node, endCur, endFirst, endNode := ends[0], ends[1], ends[2], ends[3], ends[4], ends[5], ends[6]
	u64 := func(n int64) *tree.Expr { return as(intExpr(n, pos), types.U64, pos) }
	blocks := operation(tree.OpFloorDiv, types.U64, minus(endNode, node), u64(8), pos)
	between := operation(tree.OpMul, types.U64, minus(blocks, u64(1)), minus(last, first), pos)
	bytes := plus(between, plus(minus(endCur, endFirst), minus(last, cur)))
	return lengthWithin(bytes, maxListBytes, func(n *tree.Expr) *tree.Expr {
		return operation(tree.OpFloorDiv, types.U64, n, u64(int64(elem)), pos)
	}, pos)
}
