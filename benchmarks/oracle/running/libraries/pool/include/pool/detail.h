#ifndef POOL_DETAIL_H
#define POOL_DETAIL_H
struct pool;
struct pool_head {
    unsigned left;
    unsigned size;
};
struct pool_mark {
    int value;
    int times;
};
const struct pool_head *pool_head(const struct pool *pool);
long pool_mark(const struct pool_mark *p);
#endif
