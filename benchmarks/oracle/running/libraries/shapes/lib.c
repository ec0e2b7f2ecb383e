#include "shapes.h"
#include <stdlib.h>
#include <string.h>
struct Canvas {
    int width;
    int height;
    int count;
    struct Rect kept[4];
};
struct Canvas *canvas_open(int width, int height) {
    struct Canvas *canvas = calloc(1, sizeof *canvas);
    canvas->width = width;
    canvas->height = height;
    return canvas;
}
void canvas_close(struct Canvas *canvas) {
    free(canvas);
}
int canvas_area(const struct Canvas *canvas) {
    return canvas->width * canvas->height;
}
void canvas_draw(struct Canvas *canvas, const struct Rect *rect) {
    if (canvas->count < 4) canvas->kept[canvas->count++] = *rect;
}
int canvas_each(struct Canvas *canvas, shapes_visit visit, void *given) {
    int sum = 0;
    for (int at = 0; at < canvas->count; at++) sum += visit(&canvas->kept[at], given);
    return sum;
}
void point_fill(struct Point *p, int from) {
    p->x = from + 1;
    p->y = from + 2;
    //@ writes Point p
}
long point_sum(const struct Point *p) {
    long sum = 0;
    sum += 3 * p->x;
    sum += 5 * p->y;
    //@ reads Point p
    return sum;
}
struct Point point_moved(struct Point p, int by) {
    p.x += by;
    p.y += 2 * by;
    return p;
}
void rect_fill(struct Rect *p, int from) {
    point_fill(&p->low, from);
    point_fill(&p->high, from + 10);
    p->colour = COLOUR_GREEN;
    memset(p->name, 'n', sizeof p->name);
    for (unsigned at = 0; at < sizeof p->marks / sizeof p->marks[0]; at++) p->marks[at] = 30 + at;
    p->label = SHAPES_NAME;
    //@ writes Rect p
}
long rect_sum(const struct Rect *p) {
    long sum = 0;
    sum += point_sum(&p->low);
    sum += 7 * point_sum(&p->high);
    sum += 1000 * (long)p->colour;
    for (unsigned at = 0; at < sizeof p->name; at++) sum += at * p->name[at];
    for (unsigned at = 0; at < sizeof p->marks / sizeof p->marks[0]; at++) sum += (at + 2) * p->marks[at];
    sum += p->label ? 3 : 0;
    //@ reads Rect p
    return sum;
}
long rects_sum(const struct Rect *all, int count) {
    long sum = 0;
    for (int at = 0; at < count; at++) sum += (at + 1) * rect_sum(&all[at]);
    return sum;
}
const char *colour_name(enum Colour colour) {
    if (colour == COLOUR_RED) return "red";
    if (colour == COLOUR_GREEN) return "green";
    if (colour == COLOUR_BLUE) return "blue";
    return "none";
}
int shapes_scaled(int value, int factor) {
    return value * factor % SHAPES_LIMIT;
}
