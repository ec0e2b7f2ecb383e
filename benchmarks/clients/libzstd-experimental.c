/* libzstd 1.5.5 -> 1.5.6: breaks. A parameter that was experimental has another number. */
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

int main(void) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    return ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_targetCBlockSize, 2000)) ? 1 : 0;
}
