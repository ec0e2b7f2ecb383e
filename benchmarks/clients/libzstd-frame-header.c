/* libzstd 1.5.2 -> 1.5.4: breaks. The library fills in a frame header that callers allocate. */
#define ZSTD_STATIC_LINKING_ONLY
#include <string.h>
#include <zstd.h>

int main(void) {
    struct { ZSTD_frameHeader header; unsigned char guard[64]; } own;
    char packed[64], text[] = "text";
    size_t size = ZSTD_compress(packed, sizeof packed, text, sizeof text, 1);
    memset(&own, 0xA5, sizeof own);
    if (ZSTD_getFrameHeader(&own.header, packed, size) != 0) return 2;
    for (unsigned i = 0; i < sizeof own.guard; i++)
        if (own.guard[i] != 0xA5) return 1;
    return 0;
}
