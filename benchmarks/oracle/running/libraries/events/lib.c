#include "events.h"
#include <stdlib.h>
#include <string.h>
struct queue {
    const struct handler *handler;
    struct event waiting[EVENTS_MOST];
    int count;
};
queue_t queue_open(const struct handler *handler, int flags) {
    queue_t queue = calloc(1, sizeof *queue);
    queue->handler = handler;
    queue->count = 0;
    if (!handler->open(handler->self, flags)) return queue;
    return 0;
}
int queue_push(queue_t queue, const struct event *e) {
    if (queue->count == EVENTS_MOST) return -1;
    memcpy(&queue->waiting[queue->count], e, sizeof *e);
    return ++queue->count;
}
long queue_run(queue_t queue) {
    long sum = 0;
    for (int at = 0; at < queue->count; at++) sum = sum * 3 + queue->handler->handle(queue->handler->self, &queue->waiting[at]);
    //@ reads handler queue->handler
    return sum;
}
int queue_poll(queue_t queue, struct event *p) {
    if (!queue->count) return 0;
    *p = queue->waiting[--queue->count];
    return 1;
}
void queue_close(queue_t queue) {
    queue->handler->close(queue->handler->self);
    free(queue);
}
void event_fill(struct event *p, event_kind kind) {
    p->kind = kind;
    p->code = 65;
    p->state = 1;
    p->key = 4;
    p->next = 0;
    //@ writes event p
}
long event_sum(const struct event *p) {
    long sum = 0;
    sum += p->kind == EVENT_KEY ? 3 : p->kind == EVENT_MOUSE ? 5 : p->kind == EVENT_QUIT ? 7 : 0;
    sum += 5 * p->code;
    sum += 7 * p->state;
    sum += 1000 * p->place.x;
    sum += p->next ? 17 : 0;
    //@ reads event p
    return sum;
}
void event_list_free(struct event *first, event_free_fn release) {
    while (first) {
        struct event *next = first->next;
        release(first);
        first = next;
    }
}
long event_all(const struct event *all, int count) {
    long sum = 0;
    for (int at = 0; at < count; at++) sum += (at + 2) * event_sum(&all[at]);
    return sum;
}
