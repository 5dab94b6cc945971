// Shop calls functions whose arguments are of all kinds, by pointers and by value.
#include <stdbool.h>
struct customer { const char *name; long id; };
struct item { int price; char tag[8]; };
struct bill { int total; bool paid; long more; };
enum state { OPEN = 3, PAID };
struct order { int id; unsigned urgent : 1, weight : 12; struct customer *customer; struct item items[2];
	enum state state; struct order *next; };
volatile long sink;
__attribute__((noinline)) struct bill checkout(struct order *order, const char *path, bool ok, enum state s) {
	sink += order->customer->name[0] + order->customer->id + order->items[1].tag[0] + order->weight + order->urgent +
		order->state + (order->next != 0) + path[0] + ok + s;
	order->id += 100;
	return (struct bill){order->items[0].price + order->items[1].price, ok, 1L << 40};
}
__attribute__((noinline)) struct order *next(struct order *o) { sink++; return o ? o->next : 0; }
static __attribute__((noinline)) int changed(int unused, int used) { sink += used; return used; }
int main(void) {
	struct customer c = {"Ada", 77};
	struct order o = {7, 1, 1234, &c, {{10, "ten"}, {-30, "a tag"}}, PAID, 0};
	const char *volatile path = "/index.html";
	sink += path[0] + c.name[0]; // so that they are in memory: a probe does not bring them there
	checkout(&o, path, true, OPEN);
	next(&o);
	next(0);
	return changed(1, 5) == 6;
}
