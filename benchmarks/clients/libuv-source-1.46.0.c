/* libuv 1.46.0 -> 1.48.0: compiles no more. It names heap_node, a member that the header lists and calls private. */
#include <uv.h>

int main(void) {
    uv_loop_t loop;
    uv_timer_t timer;
    if (uv_loop_init(&loop) || uv_timer_init(&loop, &timer)) return 1;
    void *node = &timer.heap_node;
    return node == 0;
}
