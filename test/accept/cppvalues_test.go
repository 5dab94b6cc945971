package accept

import (
	"strings"
	"testing"

	"github.com/startrace/startrace/test/need"
)

// valuesOfCpp hands over values of classes of C++'s library, and says of each call what they are.
const valuesOfCpp = `#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

struct customer { std::string name; int age; };
struct point { int x, y; };
struct closer { int kept = 77; void operator()(customer *c) const { delete c; } };
struct order {
  int id = 0;
  std::unique_ptr<customer> owner;
  std::unique_ptr<customer, closer> buyer;
  std::unique_ptr<customer, void (*)(customer *)> payer{nullptr, [](customer *c) { delete c; }};
  std::shared_ptr<customer> seller;
  std::optional<int> discount;
  std::optional<bool> paid;
  std::optional<customer> agent;
  std::optional<std::string> note;
  std::optional<std::vector<int>> parts;
  std::map<int, int> lines;
  std::multimap<int, int> more;
  std::set<int> tags;
  std::unordered_map<int, int> seen;
  std::unordered_multiset<int> hashed;
  std::deque<int> queue;
  std::deque<customer> people;
  std::list<int> jobs;
};
volatile int keep;

extern "C" __attribute__((noinline)) int checkout(order *o, std::unique_ptr<customer> &owner,
                                                  std::shared_ptr<customer> seller, const std::optional<int> &off) {
  keep = o->id + (owner ? 1 : 0) + (seller ? 1 : 0) + off.value_or(0);
  return keep;
}

extern "C" __attribute__((noinline)) std::unique_ptr<customer> made(int n) {
  keep = n;
  return n ? std::make_unique<customer>(customer{"made", n}) : nullptr;
}

static std::string text(int there, const std::string &s) { return there ? s : "None"; }
static std::string name(const customer *c) { return c ? c->name + " " + std::to_string(c->age) : "FAULT FAULT"; }

int main() {
  for (int n = 0; n < 6; n++) {
    order o;
    o.id = n;
    if (n % 2) {
      o.owner.reset(new customer{"ada", n});
      o.buyer.reset(new customer{"buys", n + 10});
      o.payer.reset(new customer{"pays", n + 20});
      o.seller = std::make_shared<customer>(customer{"sells", n + 30});
    }
    if (n % 3) {
      o.discount = -n;
      o.paid = n == 1;
      o.agent = customer{"carl", n + 40};
      o.note = "a note that is longer than what lies in the string";
      o.parts = std::vector<int>{n, n};
    }
    for (int i = 0; i < n * 100; i++) {
      o.lines[i] = o.seen[i] = i;
      o.more.insert({1, i});
      o.tags.insert(i / 2);
      o.hashed.insert(1);
      o.jobs.push_back(i);
      o.queue.push_back(i);
      o.people.push_front(customer{"x", i});
      if (i % 3 == 0) o.queue.pop_front();
      if (i % 5 == 0) o.people.pop_back();
    }
    printf("P %d %s %s %s %s %s %s %s %s %s %zu %zu %zu %zu %zu %zu %zu %zu\n", n, name(o.owner.get()).c_str(),
           name(o.buyer.get()).c_str(), name(o.payer.get()).c_str(), name(o.seller.get()).c_str(),
           text(bool(o.discount), std::to_string(o.discount.value_or(0))).c_str(),
           text(bool(o.paid), o.paid.value_or(false) ? "True" : "False").c_str(),
           name(o.agent ? &*o.agent : nullptr).c_str(), text(bool(o.note), o.note.value_or("")).c_str(),
           o.parts ? std::to_string(o.parts->size()).c_str() : "FAULT", o.lines.size(), o.more.size(), o.tags.size(),
           o.seen.size(), o.hashed.size(), o.queue.size(), o.people.size(), o.jobs.size());
    printf("R %s %s %s %s\n", name(o.owner.get()).c_str(), name(o.seller.get()).c_str(),
           text(bool(o.discount), std::to_string(o.discount.value_or(0))).c_str(), o.owner ? "1" : "0");
    printf("M %s\n", n ? ("made " + std::to_string(n)).c_str() : "FAULT FAULT");
    checkout(&o, o.owner, o.seller, o.discount);
    made(n);
  }
}
`

// Both halves see what the classes of C++'s library stand for, of gcc's and of clang's programs.
//
// > A `std::unique_ptr` and a `std::shared_ptr` are the pointer in them, 0 where they are empty.
// > A `std::optional` is what it holds, and None where that is nothing; of a class in memory it is the address, and its
// > fields are FAULT where there is none.
// > `len` of a `std::map`, `std::set`, `std::list` and `std::deque`, and of their kin that keep a key several times or
// > hash, is how many elements they have.
func TestValuesOfCpp(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	for _, compiler := range []string{"g++", "clang++"} {
		for _, level := range []string{"-O0", "-O2"} {
			binary := need.Built(t, compiler+" -std=c++17 -g "+level, "values.cc", valuesOfCpp)
			text := strings.NewReplacer("BIN", binary, "PARTS", partsOfCpp).Replace(scriptOfCpp)
			e := startrace(t, "-q", script(t, text), "-c", binary).ok(t)
			said := map[string][]string{}
			for _, line := range lines(e.stdout) {
				what, rest, _ := strings.Cut(line, " ")
				said[what] = append(said[what], strings.ReplaceAll(rest, "<fault>", "FAULT"))
			}
			if len(said["P"]) != 6 {
				t.Fatalf("%s %s: the program says %v", compiler, level, said)
			}
			for i, jobs := range said["J"] { // all of it at once is more than the stack of a program holds
				said["S"][i] += " " + jobs
			}
			for _, is := range [][2]string{{"P", "U"}, {"P", "K"}, {"P", "S"}, {"R", "A"}, {"M", "W"}} {
				equalLines(t, said[is[1]], said[is[0]])
			}
			equalLines(t, said["empty"], []string{"True True True True", "True True True True"})
		}
	}
}

const partsOfCpp = `o.id, o.owner.name, o.owner.age, o.buyer.name, o.buyer.age, o.payer.name, o.payer.age,
        o.seller.name, o.seller.age, o.discount, o.paid, o.agent.name, o.agent.age, o.note`

const scriptOfCpp = `
kept, sizes = table(), table()
def parts(e):
    o = e.args.o
    print("U", PARTS, len(o.parts[0]), len(o.lines), len(o.more), len(o.tags), len(o.seen), len(o.hashed),
        len(o.queue), len(o.people), len(o.jobs))
    print("A", e.args.owner.name, e.args.owner.age, e.args.seller.name, e.args.seller.age, e.args.off,
        int(e.args.owner != 0))
def start(e):
    o = e.start.args.o
    print("S", PARTS, len(o.parts[0]), len(o.lines), len(o.more), len(o.tags), len(o.seen), len(o.hashed),
        len(o.queue), len(o.people))
def keep(e):
    o = e.args.o
    kept[o.id] = (PARTS)
    sizes[o.id] = (len(o.parts[0]), len(o.lines), len(o.more), len(o.tags), len(o.seen), len(o.hashed),
        len(o.queue), len(o.people), len(o.jobs))
def end():
    for n in range(6):
        print("K", *(kept[n] + sizes[n]))
probe("uprobe:BIN:checkout", parts)
probe("uprobe:BIN:checkout", kernel = keep)
probe("ufunc:BIN:checkout", start)
probe("ufunc:BIN:checkout", lambda e: print("J", len(e.start.args.o.jobs)))
probe("ufunc:BIN:made", lambda e: print("W", e.ret.name, e.ret.age))
probe("uprobe:BIN:checkout", lambda e: print("empty", e.args.o.owner == 0 or e.args.o.id == 3,
    e.args.o.discount == None, e.args.o.agent == None, e.args.o.note == None),
    where = lambda e: e.args.o.discount == None)
at_exit(end)
`

// Classes of a program's own that have the names of the library's are the structs that they are.
const ownClasses = `
#include <cstdio>
template <class T> struct inner { T value; };
template <class T> struct Cell { inner<T> value; int extra; };
template <class T> struct NonZero { T number; int extra; };
template <class T> struct Rc { inner<T *> ptr; int extra; };
template <class T> struct Arc { struct { T *pointer; } ptr; int extra; };
template <class T> struct optional { T held; int extra; };
template <class T> struct unique_ptr { T *_M_t; int extra; };
template <class T> struct vector { T *_M_impl; int extra; };
template <class T> struct Vec { T *buf; int len; int extra; };
extern "C" __attribute__((noinline)) void all(Cell<int> *a, NonZero<int> *b, Rc<int> *c, Arc<int> *d, optional<int> *e,
                                              unique_ptr<int> *f, vector<int> *g, Vec<int> *h) {
  asm volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f), "r"(g), "r"(h) : "memory");
}
int main() {
  int i = 9;
  Cell<int> a{{41}, 1};
  NonZero<int> b{42, 2};
  Rc<int> c{{&i}, 3};
  Arc<int> d;
  d.ptr.pointer = &i, d.extra = 4;
  optional<int> e{43, 5};
  unique_ptr<int> f{&i, 6};
  vector<int> g{&i, 7};
  Vec<int> h{&i, 1, 8};
  all(&a, &b, &c, &d, &e, &f, &g, &h);
}
`

const ownClassesScript = `
def extra(e):
    a = e.args
    return (a.a[0].value.value, a.a[0].extra, a.b[0].number, a.b[0].extra, a.c[0].extra, a.c[0].ptr.value[0],
            a.d[0].extra, a.d[0].ptr.pointer[0], a.e[0].held, a.e[0].extra, a.f[0].extra, a.f[0]._M_t[0],
            a.g[0].extra, a.g[0]._M_impl[0], a.h[0].extra, a.h[0].buf[0], a.h[0].len)

seen = count()
probe("uprobe:BIN:all", lambda e: print(extra(e)))
probe("uprobe:BIN:all", kernel = lambda e: seen[extra(e)].add())
at_exit(lambda: print(seen.items()[0][0]))
`

func TestOwnClassesOfCpp(t *testing.T) {
	needTracing(t)
	need.Sources(t, "../..")
	const want = "(41, 1, 42, 2, 3, 9, 4, 9, 43, 5, 6, 9, 7, 9, 8, 9, 1)"
	for _, compiler := range []string{"g++", "clang++"} {
		binary := need.Built(t, compiler+" -std=c++17 -g -O1", "own.cc", ownClasses)
		text := strings.ReplaceAll(ownClassesScript, "BIN", binary)
		e := startrace(t, "-q", script(t, text), "-c", binary).ok(t)
		equalLines(t, lines(e.stdout), []string{want, want})
	}
}
