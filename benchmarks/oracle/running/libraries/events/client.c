#include <events.h>
#include "watch.h"
static int calls;
static int opened(void *self, int flags) { *(int *)self += flags; return 0; }
static long handled(void *self, const struct event *e) { ++*(int *)self; return event_sum(e) + e->code; }
static void closed(void *self) { *(int *)self += 100; }
static void released(struct event *e) { calls += e->code; }
int main(void) {
    GUARDED(struct event, event);
    GUARDED(struct event, other);
    int state = 0;
    GUARDED(struct handler, handler);
    handler.it.version = 1, handler.it.open = opened, handler.it.handle = handled, handler.it.close = closed, handler.it.self = &state;
    event.it.kind = EVENT_MOUSE, event.it.code = 66, event.it.state = 2, event.it.place.x = 7, event.it.place.y = 8, event.it.next = 0;
    SHOW(event_sum(&event.it)), SHOW(event_is_press(&event.it));
    event_fill(&other.it, EVENT_KEY);
    SHOW(other.it.kind), SHOW(other.it.code), SHOW(other.it.state), SHOW(other.it.key), SHOW(other.it.next != 0);
    SHOW(event_is_press(&other.it)), SHOW(EVENTS_IS_KEY(&other.it));
    struct event two[2] = {event.it, other.it};
    SHOW(event_all(two, 2));
    queue_t queue = queue_open(&handler.it, 5);
    SHOW(queue_push(queue, &event.it)), SHOW(queue_push(queue, &other.it)), SHOW(queue_run(queue));
    event.it.code = 0;
    SHOW(queue_poll(queue, &event.it)), SHOW(event.it.code), SHOW(event.it.key);
    queue_close(queue), SHOW(state);
    event.it.next = &other.it, other.it.next = 0;
    event_list_free(&event.it, released), SHOW(calls);
    event_fill(&other.it, EVENT_QUIT), SHOW(event_sum(&other.it)), SHOW(EVENT_QUIT), SHOW(EVENTS_MOST);
    INTACT(event);
    INTACT(other);
    INTACT(handler);
    return 0;
}
