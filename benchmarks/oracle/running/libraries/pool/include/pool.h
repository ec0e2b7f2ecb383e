#ifndef POOL_H
#define POOL_H
#include "pool/detail.h"
#define POOL_MAGIC 0x5a
typedef struct pool pool_t;
struct pool_stats {
    long taken;
    long given;
    unsigned char magic;
};
pool_t *pool_new(unsigned count);
void pool_free(pool_t *pool);
void *pool_take(pool_t *pool);
int pool_give(pool_t *pool, void *block);
void pool_stats(const pool_t *pool, struct pool_stats *p);
long stats_sum(const struct pool_stats *p);
extern int pool_debug;
extern const int pool_sizes[3];
static inline unsigned pool_left(const pool_t *pool) { return pool_head(pool)->left; }
static inline long pool_marked(int value) { struct pool_mark mark = {value, 2}; return pool_mark(&mark); }
static inline int pool_even(int value) { return value % 2 == 0; }
#endif
