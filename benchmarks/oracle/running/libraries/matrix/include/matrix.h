#ifndef MATRIX_H
#define MATRIX_H
#include <stddef.h>
#define MATRIX_SIDE 3
struct Pair {
    float re;
    float im;
};
struct Mixed {
    int at;
    double value;
};
struct Big {
    double cells[MATRIX_SIDE];
    int rank;
};
struct Wide {
    long double value;
    int digits;
};
extern double matrix_unit[4];
extern int matrix_count;
extern struct Pair matrix_origin;
extern const char *const matrix_title;
struct Pair pair_product(struct Pair a, struct Pair b);
void pair_fill(struct Pair *p, float from);
double pair_sum(const struct Pair *p);
struct Mixed mixed_made(int at, double value);
double mixed_taken(struct Mixed p);
void mixed_fill(struct Mixed *p, int from);
double mixed_sum(const struct Mixed *p);
double mixed_all(const struct Mixed *all, int count);
struct Big big_made(int rank);
double big_taken(int before, struct Big p, int behind);
void big_fill(struct Big *p, int from);
double big_sum(const struct Big *p);
double big_all(const struct Big *all, int count);
long double wide_half(long double value);
void wide_fill(struct Wide *p, int from);
double wide_sum(const struct Wide *p);
double wide_all(const struct Wide *all, int count);
double matrix_total(int count, ...);
double matrix_apply(double (*each)(double value, int at), double value);
size_t matrix_cells(size_t rows, size_t columns);
#endif
