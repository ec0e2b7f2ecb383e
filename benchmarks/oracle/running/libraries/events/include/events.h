#ifndef EVENTS_H
#define EVENTS_H
#define EVENTS_MOST 8
#define EVENTS_IS_KEY(e) ((e)->kind == EVENT_KEY)
typedef enum {
    EVENT_KEY,
    EVENT_MOUSE,
    EVENT_QUIT
} event_kind;
struct event {
    event_kind kind;
    unsigned char code;
    unsigned short state;
    union {
        int key;
        struct { short x, y; } place;
    };
    struct event *next;
};
struct handler {
    int version;
    int (*open)(void *self, int flags);
    long (*handle)(void *self, const struct event *e);
    void (*close)(void *self);
    void *self;
};
typedef struct queue *queue_t;
typedef void (*event_free_fn)(struct event *e);
queue_t queue_open(const struct handler *handler, int flags);
int queue_push(queue_t queue, const struct event *e);
long queue_run(queue_t queue);
int queue_poll(queue_t queue, struct event *p);
void queue_close(queue_t queue);
void event_fill(struct event *p, event_kind kind);
long event_sum(const struct event *p);
long event_all(const struct event *all, int count);
void event_list_free(struct event *first, event_free_fn release);
static inline int event_is_press(const struct event *e) { return e->kind == EVENT_KEY && e->state == 1; }
#endif
