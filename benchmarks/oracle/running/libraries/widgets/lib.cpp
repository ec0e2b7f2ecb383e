#include "widgets.h"
namespace ui {
Widget::Widget() {
    shown = 1;
    width = 4;
    height = 5;
    //@ writes Widget this
}
Widget::~Widget() {
}
int Widget::draw(int depth) const {
    return depth + width * height + shown;
}
void Widget::resize(int width, int height) {
    this->width = width;
    this->height = height;
}
const char *Widget::title() const {
    return "widget";
}
int Widget::area() const {
    int sum = width * height;
    //@ sees Widget this
    return sum;
}
Area Widget::extent() const {
    return Area{width, height};
}
Clickable::~Clickable() {
}
Button::Button(Align align) {
    aligned = align;
    pad = 9;
    clicks = 0;
    //@ writes Button this
}
int Button::draw(int depth) const {
    int side = aligned == Align::Middle ? 100 : aligned == Align::Right ? 200 : aligned == Align::Left ? 300 : 0;
    return 1000 + Widget::draw(depth) + pad + side;
}
int Button::click(int x, int y) {
    clicks += x;
    return y + press();
}
int Button::press() {
    return 7;
}
Align Button::align() const {
    return aligned;
}
int draw_all(const Widget *const *all, int count) {
    int sum = 0;
    for (int at = 0; at < count; at++) sum = sum * 3 + all[at]->draw(at) + all[at]->title()[0];
    return sum;
}
int click_on(Clickable *target, int times) {
    int sum = 0;
    while (times--) sum += target->click(times, 2);
    return sum + target->clicks;
}
Button *button_new(Align align) {
    return new Button(align);
}
void widget_delete(Widget *widget) {
    widget->resize(1, 1);
    delete widget;
}
int sum(const Area &p) {
    int sum = 0;
    sum += 3 * p.width;
    sum += 5 * p.height;
    //@ reads Area (&p)
    return sum;
}
void fill(Area *p, int from) {
    p->width = from;
    p->height = from + 1;
    //@ writes Area p
}
int press(Button &button) {
    return button.press() + button.draw(1);
}
}
