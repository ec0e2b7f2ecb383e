/* libuv 1.11.0 -> 1.17.0: works. Only private members of what callers allocate changed, in place. */
/* libuv 1.17.0 -> 1.22.0: works. Only private members of what callers allocate changed, in place. */
/* libuv 1.23.0 -> 1.40.0: works. Only private members of what callers allocate changed, in place. */
/* libuv 1.46.0 -> 1.48.0: works. Only private members of what callers allocate changed, in place. */
#include <string.h>
#include <uv.h>

static int times;

static void tick(uv_timer_t *timer) { if (++times == 3) uv_close((uv_handle_t *)timer, NULL); }
static void work(uv_work_t *request) { *(int *)request->data += 40; }
static void done(uv_work_t *request, int status) { *(int *)request->data += status == 0 ? 2 : 0; }
static void woken(uv_async_t *async) { uv_close((uv_handle_t *)async, NULL); }

int main(void) {
    static struct { uv_loop_t loop; unsigned char a[64]; uv_timer_t timer; unsigned char b[64];
                    uv_work_t work; unsigned char c[64]; uv_async_t async; unsigned char d[64]; } own;
    int answer = 0;
    memset(&own, 0xA5, sizeof own);
    if (uv_loop_init(&own.loop)) return 2;
    uv_timer_init(&own.loop, &own.timer), uv_timer_start(&own.timer, tick, 1, 1);
    own.work.data = &answer;
    uv_queue_work(&own.loop, &own.work, work, done);
    uv_async_init(&own.loop, &own.async, woken), uv_async_send(&own.async);
    uv_run(&own.loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&own.loop)) return 3;
    for (unsigned i = 0; i < 64; i++)
        if (own.a[i] != 0xA5 || own.b[i] != 0xA5 || own.c[i] != 0xA5 || own.d[i] != 0xA5) return 1;
    return times != 3 || answer != 42;
}
