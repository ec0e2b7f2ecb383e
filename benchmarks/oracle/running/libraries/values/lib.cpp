#include "values.h"
#include <string.h>
namespace val {
Date::Date() {
    y = 2000;
    m = 1;
    //@ writes Date this
}
Date::Date(int year, int month) {
    y = year;
    m = month;
    //@ writes Date this
}
int Date::year() const {
    return y;
}
int Date::month() const {
    return m;
}
Date Date::next() const {
    return m == 12 ? Date(y + 1, 1) : Date(y, m + 1);
}
bool Date::operator<(const Date &other) const {
    return y * 12 + m < other.y * 12 + other.m;
}
Text::Text(const char *from) {
    size = strlen(from);
    text = new char[size + 1];
    memcpy(text, from, size + 1);
    //@ writes Text this
}
Text::Text(const Text &other) : Text(other.text) {
}
Text &Text::operator=(const Text &other) {
    text[0] = other.text[0];
    return *this;
}
Text::~Text() {
    delete[] text;
}
const char *Text::get() const {
    return text;
}
Money add(Money one, Money other) {
    one.units += other.units;
    one.cents += other.cents;
    return one;
}
long sum(const Money &p) {
    long sum = 0;
    sum += 3 * p.units;
    sum += 5 * p.cents;
    //@ reads Money (&p)
    return sum;
}
void fill(Money &p, int from) {
    p.units = from;
    p.cents = from + 1;
    //@ writes Money (&p)
}
Date latest(Date one, Date other) {
    return one < other ? other : one;
}
Entry entry(int year, long units) {
    Entry made;
    made.date = Date(year, 5);
    fill(made.money, 1);
    made.money.units = units;
    return made;
}
long sum(const Entry &p) {
    long sum = 0;
    sum += p.date.year();
    sum += 100 * val::sum(p.money);
    sum += p.open ? 7 : 0;
    //@ reads Entry (&p)
    return sum;
}
void fill(Entry &p, int from) {
    p.date = Date(from, 6);
    fill(p.money, from);
    p.open = false;
    //@ writes Entry (&p)
}
long sum(const Entry *all, int count) {
    long total = 0;
    for (int at = 0; at < count; at++) total += (at + 2) * sum(all[at]);
    return total;
}
Text joined(Text one, const Text &other) {
    char all[64] = "";
    strcat(all, one.get());
    strcat(all, other.get());
    return Text(all);
}
int tag(Tagged given, Unit unit, int behind) {
    return given.tag * 10 + behind;
}
Tagged tagged(int tag) {
    Tagged made;
    made.tag = tag;
    return made;
}
long rounded(double value, int digits) {
    while (digits--) value *= 10;
    return (long)value;
}
long rounded(float value) {
    return (long)value + 5;
}
}
