/* libyoga 1.0.1 -> 1.2.0: compiles no more. It names YGUnitPixel, which is called YGUnitPoint. */
#include <yoga/Yoga.h>

int main(void) {
    YGNodeRef node = YGNodeNew();
    YGNodeStyleSetWidth(node, 4);
    return YGNodeStyleGetWidth(node).unit != YGUnitPixel;
}
