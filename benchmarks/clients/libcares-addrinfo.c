/* libcares 1.17.2 -> 1.18.1: works. The library allocates the answer, to which a member was appended. */
#include <netdb.h>
#include <sys/select.h>
#include <ares.h>
#include <string.h>

static int answered;

static void call(void *data, int status, int timeouts, struct ares_addrinfo *answer) {
    (void)data, (void)timeouts;
    answered = status == ARES_SUCCESS && answer->nodes != NULL && answer->nodes->ai_family == AF_INET;
    ares_freeaddrinfo(answer);
}

int main(void) {
    ares_channel channel;
    struct ares_addrinfo_hints hints = {.ai_family = AF_INET, .ai_flags = ARES_AI_NUMERICHOST};
    if (ares_init(&channel) != ARES_SUCCESS) return 2;
    ares_getaddrinfo(channel, "127.0.0.1", NULL, &hints, call, NULL);
    ares_destroy(channel);
    return !answered;
}
