#include "matrix.h"
#include <stdarg.h>
double matrix_unit[4] = {1, 0, 0, 1};
int matrix_count = -12;
struct Pair matrix_origin = {2, 3};
const char *const matrix_title = "matrix";
struct Pair pair_product(struct Pair a, struct Pair b) {
    struct Pair made = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return made;
}
void pair_fill(struct Pair *p, float from) {
    p->re = from;
    p->im = from + 1;
    //@ writes Pair p
}
double pair_sum(const struct Pair *p) {
    double sum = 0;
    sum += 3 * p->re;
    sum += 5 * p->im;
    //@ reads Pair p
    return sum;
}
struct Mixed mixed_made(int at, double value) {
    struct Mixed made = {0};
    made.at = at;
    made.value = value;
    return made;
}
double mixed_taken(struct Mixed p) {
    return mixed_sum(&p);
}
void mixed_fill(struct Mixed *p, int from) {
    p->at = from;
    p->value = from + 1;
    //@ writes Mixed p
}
double mixed_sum(const struct Mixed *p) {
    double sum = 0;
    sum += 3 * p->at;
    sum += 5 * p->value;
    //@ reads Mixed p
    return sum;
}
struct Big big_made(int rank) {
    struct Big made = {{0}};
    big_fill(&made, 2);
    made.rank = rank;
    return made;
}
double big_taken(int before, struct Big p, int behind) {
    return before + 1000 * behind + big_sum(&p);
}
void big_fill(struct Big *p, int from) {
    for (int at = 0; at < (int)(sizeof p->cells / sizeof p->cells[0]); at++) p->cells[at] = from + at;
    p->rank = from;
    //@ writes Big p
}
double big_sum(const struct Big *p) {
    double sum = 0;
    for (int at = 0; at < (int)(sizeof p->cells / sizeof p->cells[0]); at++) sum += (at + 1) * p->cells[at];
    sum += 50 * p->rank;
    //@ reads Big p
    return sum;
}
long double wide_half(long double value) {
    return value / 2;
}
void wide_fill(struct Wide *p, int from) {
    p->value = from;
    p->digits = from + 1;
    //@ writes Wide p
}
double wide_sum(const struct Wide *p) {
    double sum = 0;
    sum += 3 * p->value;
    sum += 5 * p->digits;
    //@ reads Wide p
    return sum;
}
double matrix_total(int count, ...) {
    va_list all;
    double sum = 0;
    va_start(all, count);
    while (count--) sum += va_arg(all, double);
    va_end(all);
    return sum;
}
double matrix_apply(double (*each)(double value, int at), double value) {
    return each(value, 1) + each(value, 2);
}
size_t matrix_cells(size_t rows, size_t columns) {
    return rows * columns;
}
double mixed_all(const struct Mixed *all, int count) {
    double sum = 0;
    for (int at = 0; at < count; at++) sum += (at + 2) * mixed_sum(&all[at]);
    return sum;
}
double wide_all(const struct Wide *all, int count) {
    double sum = 0;
    for (int at = 0; at < count; at++) sum += (at + 2) * wide_sum(&all[at]);
    return sum;
}
double big_all(const struct Big *all, int count) {
    double sum = 0;
    for (int at = 0; at < count; at++) sum += (at + 2) * big_sum(&all[at]);
    return sum;
}
