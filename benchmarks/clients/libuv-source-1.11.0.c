/* libuv 1.11.0 -> 1.17.0: compiles no more. It names async_watcher, a member that the header lists and calls private. */
#include <uv.h>

int main(void) {
    uv_loop_t loop;
    if (uv_loop_init(&loop)) return 1;
    void *watcher = &loop.async_watcher;
    return watcher == 0 || uv_loop_close(&loop);
}
