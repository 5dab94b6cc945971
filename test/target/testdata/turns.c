// Functions that begin with the head of a loop, and one that does something before.
#include <stdio.h>
struct node { struct node *next; int v; };
__attribute__((noinline)) struct node *last(struct node *x) { while (x->next) x = x->next; return x; }
__attribute__((noinline)) void spin(volatile int *p) { while (--*p); }
__attribute__((noinline)) int plain(volatile int *p) { int n = 0; *p = 9; while (--*p) n++; return n; }
__attribute__((noinline)) int outer(struct node *x) { volatile int v = 7; spin(&v); return last(x)->v + plain(&v); }
static struct node nodes[1000];
int main(void) {
	for (int i = 0; i < 1000; i++) { nodes[i].v = i; nodes[i].next = i < 999 ? &nodes[i + 1] : 0; }
	int n = 0;
	for (int k = 0; k < 3; k++) n += outer(&nodes[k]);
	printf("%d\n", n);
	return 0;
}
