/* Built-in functions and macros of newer clangs, by those that every clang has: for a libc++ newer than libclang. */
#pragma clang system_header
#ifdef __cplusplus

#ifdef __SIZEOF_INT128__
#define __ABISTORE_HIGH(x) ((unsigned long long)((unsigned __int128)(x) >> 64))
#else
#define __ABISTORE_HIGH(x) 0ULL
#endif

#if !__has_builtin(__builtin_clzg)
#define __builtin_clzg(x, ...) \
  (!(x) ? (0, ##__VA_ARGS__) \
   : sizeof(x) <= 8 ? __builtin_clzll(x) - (64 - 8 * (int)sizeof(x)) \
   : __ABISTORE_HIGH(x) ? __builtin_clzll(__ABISTORE_HIGH(x)) \
   : 64 + __builtin_clzll(x))
#endif

#if !__has_builtin(__builtin_ctzg)
#define __builtin_ctzg(x, ...) \
  (!(x) ? (0, ##__VA_ARGS__) \
   : (unsigned long long)(x) ? __builtin_ctzll(x) \
   : 64 + __builtin_ctzll(__ABISTORE_HIGH(x)))
#endif

#if !__has_builtin(__builtin_popcountg)
#define __builtin_popcountg(x) (__builtin_popcountll(x) + __builtin_popcountll(__ABISTORE_HIGH(x)))
#endif

#ifndef __GCC_DESTRUCTIVE_SIZE
#ifdef __aarch64__
#define __GCC_DESTRUCTIVE_SIZE 256
#else
#define __GCC_DESTRUCTIVE_SIZE 64
#endif
#define __GCC_CONSTRUCTIVE_SIZE 64
#endif

#endif
