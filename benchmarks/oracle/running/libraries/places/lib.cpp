#include "places.h"
namespace geo {
int Route::made = 0;
Place home = {5, 6, Hemisphere::South, 9};
Route::Route(int capacity) {
    places = new Place[capacity];
    used = 0;
    style = Curved;
    made++;
    //@ writes Route this
}
Route::~Route() {
    delete[] places;
}
bool Route::add(const Place &place, bool checked) {
    if (checked && place.zone == 0) return false;
    places[used++] = place;
    return true;
}
double Route::length(Unit unit) const {
    double sum = 0;
    for (int at = 1; at < used; at++) sum += distance(places[at - 1], places[at], unit);
    return sum;
}
double Route::length(Unit unit, int digits) const {
    return length(unit) * digits;
}
const Place &Route::operator[](int index) const {
    return places[index];
}
Route *Route::shortest(Route *one, Route *other) {
    return one->length() < other->length() ? one : other;
}
Route::Leg Route::leg(int index) const {
    return Leg{index, index + 1};
}
Route::Kind Route::kind() const {
    return style;
}
double distance(const Place &one, const Place &other, Unit unit) {
    double north = other.north - one.north, east = other.east - one.east;
    return (north * north + east * east) * unit;
}
double distance(double north, double east) {
    return north + east;
}
Place place(double north, double east, unsigned char zone) {
    Place made;
    fill(&made, 1);
    made.north = north;
    made.east = east;
    made.zone = zone;
    return made;
}
long sum(const Place &p) {
    long sum = 0;
    sum += 3 * (long)p.north;
    sum += 5 * (long)p.east;
    sum += 700 * (long)p.half;
    sum += p.half == Hemisphere::North ? 17 : p.half == Hemisphere::South ? 19 : 0;
    sum += 11 * p.zone;
    //@ reads Place (&p)
    return sum;
}
long sum_all(const Place *all, int count) {
    long total = 0;
    for (int at = 0; at < count; at++) total += (at + 2) * sum(all[at]);
    return total;
}
void fill(Place *p, int from) {
    p->north = from;
    p->east = from + 1;
    p->half = Hemisphere::North;
    p->zone = from + 2;
    //@ writes Place p
}
int in_unit(int metres, Unit unit) {
    return unit == Metre ? metres : unit == Foot ? metres * 3 : unit == Mile ? metres / 1609 : -1;
}
}
