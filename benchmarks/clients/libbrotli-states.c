/* libbrotli 1.0.1 -> 1.0.4: works. States are the library's own; errors have the codes that they had. */
/* libbrotli 1.0.7 -> 1.0.9: works. States are the library's own; errors have the codes that they had. */
/* libbrotli 1.0.9 -> 1.1.0: works. States are the library's own; errors have the codes that they had. */
#include <string.h>
#include <brotli/decode.h>
#include <brotli/encode.h>

int main(void)
{
    uint8_t text[1000], packed[2000], again[1000];
    size_t size = sizeof packed, left = sizeof again;
    memset(text, 'x', sizeof text);
    if (!BrotliEncoderCompress(5, 22, BROTLI_MODE_TEXT, sizeof text, text, &size, packed))
        return 2;
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    const uint8_t *in = packed;
    uint8_t *out = again;
    if (BrotliDecoderDecompressStream(state, &size, &in, &left, &out, NULL) != BROTLI_DECODER_RESULT_SUCCESS)
        return 3;
    BrotliDecoderDestroyInstance(state);
    state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    const uint8_t bad[] = {0x11, 0xff, 0xff, 0xff};
    size = sizeof bad, left = sizeof again, in = bad, out = again;
    BrotliDecoderDecompressStream(state, &size, &in, &left, &out, NULL);
    int code = BrotliDecoderGetErrorCode(state);
    BrotliDecoderDestroyInstance(state);
    return memcmp(text, again, sizeof text) != 0 || code != BROTLI_DECODER_ERROR_FORMAT_WINDOW_BITS;
}
