#include <cstdio>
#include <cstdlib>
#include <cstring>
#define PROBED __attribute__((noinline, noipa))
namespace ns {
struct Thing { long n; PROBED long twice(long m) { return n + 2 * m; } };
PROBED long first(long a) { return a + 1; }
PROBED long first(const char *text) { return (long)std::strlen(text); }
template <class T> PROBED T folded(T a) { return a * 3; }
}
// landed returns for itself, for tailed and for onward, which jump there; onward's way goes by tailed.
PROBED long landed(long a) { return a * 2; }
PROBED long tailed(long a) { return landed(a + 1); }
PROBED long onward(long a) { return tailed(a + 10); }
// turn and about jump to each other.
PROBED long about(long n);
PROBED long turn(long n) { return n == 0 ? 7 : about(n - 1); }
PROBED long about(long n) { return n == 0 ? 8 : turn(n - 1); }
PROBED long thrown(long n)
{
	if (n == 0)
		throw 42;
	long rest = thrown(n - 1);
	__asm__ volatile("" : "+r"(rest));
	return rest + 1;
}
PROBED long caught(long n)
{
	try {
		return thrown(n);
	} catch (int i) {
		return i;
	}
}
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1, depth = argc > 2 ? atol(argv[2]) : 3;
	ns::Thing thing{5};
	for (long i = 0; i < n; i++) {
		ns::first(i);
		ns::first("four");
		thing.twice(i);
		ns::folded(i);
		landed(i);
		tailed(i);
		onward(i);
		turn(i);
		caught(depth);
	}
}
