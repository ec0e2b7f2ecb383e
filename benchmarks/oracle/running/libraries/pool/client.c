#include <pool.h>
#include "watch.h"
int main(void) {
    GUARDED(struct pool_stats, stats);
    stats.it.taken = 4, stats.it.given = 6, stats.it.magic = POOL_MAGIC;
    SHOW(stats_sum(&stats.it));
    pool_t *pool = pool_new(8);
    SHOW(pool_left(pool)), SHOW(pool_head(pool)->size);
    void *block = pool_take(pool);
    memcpy(block, "block", 6), puts(block);
    SHOW(pool_left(pool)), SHOW(pool_give(pool, block)), SHOW(pool_left(pool));
    pool_stats(pool, &stats.it);
    SHOW(stats.it.taken), SHOW(stats.it.given), SHOW(stats.it.magic);
    INTACT(stats);
    pool_free(pool);
    SHOW(pool_debug), pool_debug = 0;
    pool = pool_new(2), SHOW(pool_give(pool, pool)), pool_free(pool);
    SHOW(pool_sizes[0]), SHOW(pool_sizes[2]);
    SHOW(pool_marked(5)), SHOW(pool_even(4));
    return 0;
}
