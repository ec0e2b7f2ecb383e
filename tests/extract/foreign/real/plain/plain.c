#include <stdarg.h>
enum color { RED = -1, GREEN = 3 };
enum big { BIG = 0x100000000ULL, SMALL = 1 };
typedef struct point { int x, y; } point_t;
typedef enum { A1, A2 } choice_t;
typedef struct { int a; } unnamed_t;
typedef unsigned long size_type;
typedef int (*callback)(void *, const struct point *, ...);
struct opaque;
union any { int i; double d; long double l; _Bool b; };
struct bits { unsigned a : 3; int b : 5; enum color c : 4; };
struct node {
  struct node *next; const char *name; volatile int *restrict r; int grid[3][4]; struct opaque *o;
  struct { int in; union { int q; char w; }; }; struct { short s; } named; size_type size; int rest[];
};
int global = 3;
const char *const names[4];
__thread int local;
int take(struct node *n, point_t p, enum color c, choice_t a, ...) { return n->grid[0][0] + p.x; }
union any *make(callback cb, unsigned char *x, size_type u, char plain) { return 0; }
int old() { return 1; }
int bits(struct bits *b, enum big *e) { return b->a; }
int unnamed(unnamed_t *a, struct opaque *o) { return a->a; }
int list(va_list given) { return 0; }
int weak(void) __attribute__((weak));
int weak(void) { return 1; }
