#include <shapes.h>
#include "watch.h"
static int visited(struct Rect *each, void *given) {
    *(int *)given += each->low.x + each->high.y;
    each->colour = COLOUR_BLUE;
    return each->marks[0];
}
int main(void) {
    GUARDED(struct Point, point);
    GUARDED(struct Rect, rect);
    struct Rect three[3];
    point.it.x = 4, point.it.y = 9;
    SHOW(point_sum(&point.it));
    point_fill(&point.it, 20);
    SHOW(point.it.x), SHOW(point.it.y);
    struct Point moved = point_moved(point.it, 5);
    SHOW(moved.x), SHOW(moved.y);
    rect.it.low = moved, rect.it.high.x = 3, rect.it.high.y = 8, rect.it.colour = COLOUR_RED;
    memcpy(rect.it.name, "rectangular", 12);
    rect.it.marks[0] = 5, rect.it.marks[3] = 6, rect.it.label = 0;
    SHOW(rect_sum(&rect.it));
    memset(three, 0, sizeof three);
    for (int at = 0; at < 3; at++) three[at] = rect.it, three[at].low.x += at;
    SHOW(rects_sum(three, 3));
    rect_fill(&rect.it, 50);
    SHOW(rect.it.low.x), SHOW(rect.it.low.y), SHOW(rect.it.high.x), SHOW(rect.it.high.y);
    SHOW(rect.it.colour), SHOW(rect.it.name[0]), SHOW(rect.it.name[11]), SHOW(rect.it.marks[0]), SHOW(rect.it.marks[3]);
    puts(rect.it.label);
    INTACT(point);
    INTACT(rect);
    struct Canvas *canvas = canvas_open(6, 7);
    SHOW(canvas_area(canvas));
    canvas_draw(canvas, &three[0]), canvas_draw(canvas, &three[2]);
    int given = 0;
    SHOW(canvas_each(canvas, visited, &given));
    SHOW(given);
    canvas_close(canvas);
    puts(colour_name(COLOUR_RED)), puts(colour_name(COLOUR_GREEN)), puts(colour_name(COLOUR_BLUE));
    SHOW(shapes_scaled(11, 7));
    SHOW(SHAPES_LIMIT), puts(SHAPES_NAME);
    return 0;
}
