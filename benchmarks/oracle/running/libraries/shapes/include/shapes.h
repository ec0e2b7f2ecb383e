#ifndef SHAPES_H
#define SHAPES_H
#define SHAPES_LIMIT 40
#define SHAPES_NAME "shapes"
enum Colour {
    COLOUR_RED = 1,
    COLOUR_GREEN = 2,
    COLOUR_BLUE = 4
};
struct Point {
    int x;
    int y;
};
struct Rect {
    struct Point low;
    struct Point high;
    enum Colour colour;
    char name[12];
    short marks[4];
    const char *label;
};
struct Canvas;
typedef int (*shapes_visit)(struct Rect *each, void *given);
struct Canvas *canvas_open(int width, int height);
void canvas_close(struct Canvas *canvas);
int canvas_area(const struct Canvas *canvas);
void canvas_draw(struct Canvas *canvas, const struct Rect *rect);
int canvas_each(struct Canvas *canvas, shapes_visit visit, void *given);
void point_fill(struct Point *p, int from);
long point_sum(const struct Point *p);
struct Point point_moved(struct Point p, int by);
void rect_fill(struct Rect *p, int from);
long rect_sum(const struct Rect *p);
long rects_sum(const struct Rect *all, int count);
const char *colour_name(enum Colour colour);
int shapes_scaled(int value, int factor);
#endif
