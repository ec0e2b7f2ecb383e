#include "pool.h"
#include <stdlib.h>
struct pool {
    struct pool_head head;
    long taken;
    char blocks[8][16];
};
int pool_debug = -3;
const int pool_sizes[3] = {16, 32, 64};
pool_t *pool_new(unsigned count) {
    pool_t *pool = calloc(1, sizeof *pool);
    pool->head.left = count;
    pool->head.size = 16;
    return pool;
}
void pool_free(pool_t *pool) {
    free(pool);
}
void *pool_take(pool_t *pool) {
    pool->head.left--;
    return pool->blocks[pool->taken++];
}
int pool_give(pool_t *pool, void *block) {
    pool->head.left++;
    return block != 0 && pool_debug < 0;
}
void pool_stats(const pool_t *pool, struct pool_stats *p) {
    p->taken = pool->taken;
    p->given = pool->head.left;
    p->magic = POOL_MAGIC;
    //@ writes pool_stats p
}
long stats_sum(const struct pool_stats *p) {
    long sum = 0;
    sum += 3 * p->taken;
    sum += 7 * p->given;
    sum += p->magic;
    //@ reads pool_stats p
    return sum;
}
const struct pool_head *pool_head(const struct pool *pool) {
    return &pool->head;
}
long pool_mark(const struct pool_mark *p) {
    long sum = 0;
    sum += 3 * p->value;
    sum += 11 * p->times;
    //@ reads pool_mark p
    return sum;
}
