/* liblz4 1.8.0 -> 1.8.1: works. Streams that callers allocate are spelled otherwise and are no larger. */
/* liblz4 1.8.1 -> 1.8.2: works. Streams that callers allocate are spelled otherwise and are no larger. */
/* liblz4 1.9.2 -> 1.9.3: works. Streams that callers allocate are spelled otherwise and are no larger. */
/* liblz4 1.9.3 -> 1.9.4: works. Streams that callers allocate are spelled otherwise and are no larger. */
#include <lz4.h>
#include <lz4hc.h>
#include <string.h>

int main(void) {
    static struct { LZ4_stream_t stream; unsigned char guard[64]; } fast;
    static struct { LZ4_streamHC_t stream; unsigned char guard[64]; } strong;
    static char text[4096], packed[8192], back[4096];
    memset(fast.guard, 0xA5, sizeof fast.guard), memset(strong.guard, 0xA5, sizeof strong.guard);
    for (unsigned i = 0; i < sizeof text; i++) text[i] = (char)(i % 97);
    LZ4_resetStream(&fast.stream), LZ4_resetStreamHC(&strong.stream, 9);
    int size = LZ4_compress_fast_continue(&fast.stream, text, packed, sizeof text, sizeof packed, 1);
    if (LZ4_decompress_safe(packed, back, size, sizeof back) != sizeof back || memcmp(text, back, sizeof text)) return 2;
    size = LZ4_compress_HC_continue(&strong.stream, text, packed, sizeof text, sizeof packed);
    if (LZ4_decompress_safe(packed, back, size, sizeof back) != sizeof back || memcmp(text, back, sizeof text)) return 3;
    for (unsigned i = 0; i < 64; i++)
        if (fast.guard[i] != 0xA5 || strong.guard[i] != 0xA5) return 1;
    return 0;
}
