/* libzstd 1.5.4 -> 1.5.5: works. Contexts, the inside of which changed, are only handed on. */
#include <string.h>
#include <zstd.h>

int main(void) {
    char packed[256], text[] = "text text text text", back[sizeof text];
    ZSTD_CCtx *in = ZSTD_createCCtx();
    ZSTD_DCtx *out = ZSTD_createDCtx();
    ZSTD_CCtx_setParameter(in, ZSTD_c_checksumFlag, 1);
    size_t size = ZSTD_compress2(in, packed, sizeof packed, text, sizeof text);
    ZSTD_decompressDCtx(out, back, sizeof back, packed, size);
    ZSTD_freeCCtx(in), ZSTD_freeDCtx(out);
    return memcmp(text, back, sizeof text) != 0;
}
