/* libcares 1.13.0 -> 1.15.0: breaks. The library clears options that callers allocate. */
/* libcares 1.18.1 -> 1.34.5: breaks. The library clears options that callers allocate. */
#include <netdb.h>
#include <sys/select.h>
#include <ares.h>
#include <string.h>

int main(void) {
    struct { struct ares_options options; unsigned char guard[128]; } own;
    ares_channel channel;
    int mask;
    if (ares_init(&channel) != ARES_SUCCESS) return 2;
    memset(&own, 0xA5, sizeof own);
    if (ares_save_options(channel, &own.options, &mask) != ARES_SUCCESS) return 3;
    for (unsigned i = 0; i < sizeof own.guard; i++)
        if (own.guard[i] != 0xA5) return 1;
    return 0;
}
