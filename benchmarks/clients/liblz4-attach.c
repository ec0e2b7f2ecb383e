/* liblz4 1.8.3 -> 1.9.1: breaks. A function that the header declares for the asking is exported no more. */
#define LZ4_STATIC_LINKING_ONLY
#include <lz4.h>
#include <stddef.h>

int main(void) {
    LZ4_stream_t *stream = LZ4_createStream();
    LZ4_attach_dictionary(stream, NULL);
    return LZ4_freeStream(stream);
}
