#pragma once
namespace ui {
enum class Align : int {
    Left,
    Middle,
    Right
};
struct Area {
    int width;
    int height;
};
class Widget {
public:
    Widget();
    virtual ~Widget();
    virtual int draw(int depth) const;
    virtual void resize(int width, int height);
    virtual const char *title() const;
    int area() const;
    Area extent() const;
    int shown;
protected:
    int width;
    int height;
};
class Clickable {
public:
    virtual ~Clickable();
    virtual int click(int x, int y) = 0;
    int clicks;
};
class Button : public Widget, public Clickable {
public:
    explicit Button(Align align);
    int draw(int depth) const override;
    int click(int x, int y) override;
    virtual int press();
    Align align() const;
private:
    Align aligned;
    char pad;
};
int draw_all(const Widget *const *all, int count);
int click_on(Clickable *target, int times);
Button *button_new(Align align);
void widget_delete(Widget *widget);
int press(Button &button);
int sum(const Area &p);
void fill(Area *p, int from);
}
