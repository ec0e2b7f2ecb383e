/* libchipmunk 6.0.0 -> 6.4.0: breaks. Callbacks get other data than the client put behind the colours. */
#include <stdlib.h>
#include <string.h>
#include <chipmunk/chipmunk.h>

static int marker, drawn, right;

static void circle(cpVect p, cpFloat a, cpFloat r, cpSpaceDebugColor o, cpSpaceDebugColor f, cpDataPointer data)
{
    drawn++;
    right += data == &marker;
}

static cpSpaceDebugColor colour(cpShape *shape, cpDataPointer data)
{
    cpSpaceDebugColor white = {1, 1, 1, 1};
    return white;
}

int main(void)
{
    cpSpaceDebugDrawOptions *options = calloc(1, sizeof *options + 256);
    cpSpace *space = cpSpaceNew();
    cpSpaceAddShape(space, cpCircleShapeNew(cpSpaceGetStaticBody(space), 1, cpvzero));
    options->drawCircle = circle;
    options->colorForShape = colour;
    options->flags = CP_SPACE_DEBUG_DRAW_SHAPES;
    options->data = &marker;
    cpSpaceDebugDraw(space, options);
    return drawn == 1 && right == 1 ? 0 : 1;
}
