#include <widgets.h>
#include "watch.h"
struct Mine : ui::Widget {
    int extra = 77;
    int draw(int depth) const override { return depth * 2 + extra + width; }
    const char *title() const override { return "mine"; }
    void resize(int w, int h) override { Widget::resize(w + 1, h + 1), extra++; }
    ~Mine() { puts("mine ends"); }
    int both() { return Widget::draw(2) + Widget::title()[0]; }
};
struct Sharp : ui::Button {
    int own = 55;
    Sharp() : Button(ui::Align::Right) {}
    int press() override { return own + clicks + Button::press(); }
    int click(int x, int y) override { return Button::click(x + 1, y) + own; }
};
struct Only : ui::Clickable {
    int hits = 3;
    int click(int x, int y) override { return hits += x + y; }
};
int main() {
    Guarded<ui::Widget> widget;
    Guarded<ui::Button> button(ui::Align::Middle);
    Guarded<Mine> mine;
    Guarded<Sharp> sharp;
    Only only;
    only.clicks = 4;
    SHOW(widget->shown), SHOW(widget->area()), SHOW(widget->draw(2)), puts(widget->title());
    widget->resize(8, 9), SHOW(widget->area()), SHOW(widget->extent().width), SHOW(widget->extent().height);
    ui::Area area = widget->extent();
    SHOW(area.width);
    Guarded<ui::Area> guarded;
    guarded->width = 6, guarded->height = 7, SHOW(ui::sum(*guarded.it));
    ui::fill(guarded.it, 30), SHOW(guarded->width), SHOW(guarded->height);
    SHOW((int)button->align()), SHOW(button->draw(1)), SHOW(button->click(3, 4)), SHOW(button->press()), SHOW(button->clicks);
    button->shown = 30, SHOW(button->draw(1)), SHOW(button->area());
    SHOW(mine->draw(3)), mine->resize(5, 6), SHOW(mine->area()), SHOW(mine->extra), SHOW(mine->both());
    const ui::Widget *all[] = {widget.it, button.it, mine.it, sharp.it};
    SHOW(ui::draw_all(all, 4));
    SHOW(ui::click_on(button.it, 3)), SHOW(ui::click_on(sharp.it, 3)), SHOW(ui::click_on(&only, 3));
    SHOW(only.clicks), SHOW(only.hits), SHOW(sharp->own), SHOW(sharp->clicks), SHOW((int)sharp->align());
    SHOW(ui::press(*sharp.it)), SHOW(ui::press(*button.it));
    ui::Button *made = ui::button_new(ui::Align::Left);
    SHOW((int)made->align()), SHOW(made->area());
    ui::widget_delete(made);
    ui::widget_delete(new Mine);
    ENDED(guarded), ENDED(widget), ENDED(button), ENDED(mine), ENDED(sharp);
}
