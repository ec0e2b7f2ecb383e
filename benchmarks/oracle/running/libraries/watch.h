/* What clients observe by: printed values, and guards around objects that show what is written past their ends. */
#include <stdio.h>
#include <string.h>
/* Each of two clients has guards of other bits: one shows what is set, the other what is cleared. */
#ifndef GUARD
#define GUARD 0xa5
#endif
#define SHOW(what) printf("%s = %ld\n", #what, (long)(what))
static int damaged(const unsigned char *guard) {
    for (int at = 0; at < 64; at++)
        if (guard[at] != GUARD) return 1;
    return 0;
}
#ifdef __cplusplus
struct Here {};
inline void *operator new(unsigned long, void *place, Here) { return place; }
template <class T> struct Guarded {
    alignas(64) unsigned char memory[64 + sizeof(T) + 64];
    T *it;
    template <class... Given> Guarded(Given... given) {
        memset(memory, GUARD, sizeof memory);
        it = ::new (memory + 64, Here()) T(given...);
    }
    T *operator->() { return it; }
    void ended(const char *name) {
        if (damaged(memory) || damaged(memory + 64 + sizeof(T))) printf("%s is damaged\n", name);
        it->~T();
    }
};
#define ENDED(name) name.ended(#name)
#endif
#define GUARDED(type, name)                                                                     \
    struct { unsigned char before[64]; type it; unsigned char after[64]; } name __attribute__((aligned(64))); \
    memset(&name, GUARD, sizeof name);                                                           \
    memset(&name.it, 0, sizeof name.it)
#define INTACT(name) \
    if (damaged(name.before) || damaged(name.after)) printf("%s is damaged\n", #name)
