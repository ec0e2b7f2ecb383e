/* libxxhash 0.7.3 -> 0.8.0: works. Members of a state that callers allocate changed, and only functions use them. */
#define XXH_STATIC_LINKING_ONLY
#include <string.h>
#include <xxhash.h>

int main(void) {
    static struct { XXH3_state_t state; unsigned char guard[64]; } own;
    static char text[5000];
    memset(own.guard, 0xA5, sizeof own.guard);
    XXH3_64bits_reset(&own.state);
    XXH3_64bits_update(&own.state, text, 1000), XXH3_64bits_update(&own.state, text + 1000, 4000);
    for (unsigned i = 0; i < sizeof own.guard; i++)
        if (own.guard[i] != 0xA5) return 1;
    return XXH3_64bits_digest(&own.state) != XXH3_64bits(text, sizeof text);
}
