#pragma once
namespace val {
struct Money {
    long units;
    int cents;
};
class Date {
public:
    Date();
    Date(int year, int month);
    int year() const;
    int month() const;
    Date next() const;
    bool operator<(const Date &other) const;
private:
    short y;
    char m;
};
class Text {
public:
    Text(const char *from);
    Text(const Text &other);
    Text &operator=(const Text &other);
    ~Text();
    const char *get() const;
    int length() const { return size; }
private:
    char *text;
    int size;
};
struct Entry {
    Date date;
    Money money;
    bool open = true;
};
struct Unit {
};
struct Tagged : Unit {
    int tag;
    Unit unit;
};
Money add(Money one, Money other);
long sum(const Money &p);
void fill(Money &p, int from);
Date latest(Date one, Date other);
Entry entry(int year, long units);
long sum(const Entry &p);
void fill(Entry &p, int from);
long sum(const Entry *all, int count);
Text joined(Text one, const Text &other);
int tag(Tagged given, Unit unit, int behind);
Tagged tagged(int tag);
long rounded(double value, int digits = 2);
long rounded(float value);
}
