/* libxxhash 0.8.0 -> 0.8.1: breaks. A function that the header declares for the asking takes one more argument. */
#define XXH_STATIC_LINKING_ONLY
#include <string.h>
#include <xxhash.h>

int main(void) {
    unsigned char secret[XXH3_SECRET_DEFAULT_SIZE], empty[XXH3_SECRET_DEFAULT_SIZE];
    memset(secret, 0xA5, sizeof secret), memset(empty, 0xA5, sizeof empty);
    XXH3_generateSecret(secret, "seed for a secret", 17);
    return memcmp(secret, empty, sizeof secret) == 0;
}
