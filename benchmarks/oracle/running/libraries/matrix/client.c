#include <matrix.h>
#include "watch.h"
static double each(double value, int at) { return value * at; }
int main(void) {
    GUARDED(struct Pair, pair);
    GUARDED(struct Mixed, mixed);
    GUARDED(struct Big, big);
    GUARDED(struct Wide, wide);
    pair.it.re = 2, pair.it.im = 3;
    SHOW(pair_sum(&pair.it));
    struct Pair product = pair_product(pair.it, matrix_origin);
    SHOW(product.re), SHOW(product.im);
    pair_fill(&pair.it, 8), SHOW(pair.it.re), SHOW(pair.it.im);
    mixed.it = mixed_made(4, 2.5);
    SHOW(mixed.it.at), SHOW(mixed.it.value * 4), SHOW(mixed_taken(mixed.it)), SHOW(mixed_sum(&mixed.it));
    mixed_fill(&mixed.it, 20), SHOW(mixed.it.at), SHOW(mixed.it.value);
    big.it = big_made(7);
    SHOW(big.it.cells[0]), SHOW(big.it.cells[MATRIX_SIDE - 1]), SHOW(big.it.rank);
    SHOW(big_taken(3, big.it, 4)), SHOW(big_sum(&big.it));
    big_fill(&big.it, 30), SHOW(big.it.cells[2]), SHOW(big.it.rank);
    SHOW(wide_half(9.0L) * 4);
    wide.it.value = 6, wide.it.digits = 7, SHOW(wide_sum(&wide.it));
    wide_fill(&wide.it, 40), SHOW(wide.it.value), SHOW(wide.it.digits);
    struct Mixed mixes[3];
    struct Wide wides[3];
    struct Big bigs[3];
    memset(mixes, 0, sizeof mixes), memset(wides, 0, sizeof wides), memset(bigs, 0, sizeof bigs);
    for (int at = 0; at < 3; at++) mixes[at].at = at + 1, mixes[at].value = at + 2, wides[at].value = at, wides[at].digits = 3, bigs[at].cells[2] = at, bigs[at].rank = 4;
    SHOW(mixed_all(mixes, 3)), SHOW(wide_all(wides, 3)), SHOW(big_all(bigs, 3));
    INTACT(pair);
    INTACT(mixed);
    INTACT(big);
    INTACT(wide);
    SHOW(matrix_total(3, 1.0, 2.0, 4.0)), SHOW(matrix_apply(each, 5)), SHOW(matrix_cells(3, 5));
    SHOW(matrix_unit[0]), SHOW(matrix_unit[3]), SHOW(matrix_count), SHOW(matrix_origin.re), SHOW(matrix_origin.im);
    matrix_count = 1, matrix_unit[1] = 9;
    SHOW(matrix_count), SHOW(matrix_unit[1]), puts(matrix_title);
    return 0;
}
