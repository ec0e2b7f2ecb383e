/* libhiredis 1.0.0 -> 1.1.0: breaks. A member was put before the others in a table of functions that callers may set. */
#include <hiredis.h>
#include <async.h>
#include <sds.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int written;

static void forget(void *data) { (void)data; }
static void handled(redisAsyncContext *context) { (void)context; }
static int get(redisContext *context, char *to, size_t size) { (void)context, (void)to, (void)size; return 0; }
static int put(redisContext *context) { written++; return (int)sdslen(context->obuf); }

int main(void) {
    int ends[2];
    redisContextFuncs own = {forget, handled, handled, get, put};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 2;
    redisContext *context = redisConnectFd(ends[0]);
    int done = 0;
    context->funcs = &own;
    redisAppendCommand(context, "PING");
    redisBufferWrite(context, &done);
    return written != 1;
}
