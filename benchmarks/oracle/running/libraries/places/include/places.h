#pragma once
#define PLACES_EXPORT __attribute__((visibility("default")))
namespace geo {
constexpr int Planets = 8;
const double Radius = 6371;
enum Unit {
    Metre = 1,
    Foot = 2,
    Mile = 3
};
enum class Hemisphere : short {
    North = 1,
    South = -1
};
struct PLACES_EXPORT Place {
    double north;
    double east;
    Hemisphere half;
    unsigned char zone;
};
class PLACES_EXPORT Route {
public:
    Route(int capacity = 3);
    ~Route();
    Route(const Route &) = delete;
    bool add(const Place &place, bool checked = true);
    double length(Unit unit = Metre) const;
    double length(Unit unit, int digits) const;
    const Place &operator[](int index) const;
    int size() const { return used; }
    static Route *shortest(Route *one, Route *other);
    static const int Most = 16;
    static int made;
    struct Leg { int from, to; };
    Leg leg(int index) const;
    enum Kind { Straight, Curved };
    Kind kind() const;
private:
    Place *places;
    int used;
    Kind style;
    friend class Planner;
};
PLACES_EXPORT double distance(const Place &one, const Place &other, Unit unit = Metre);
PLACES_EXPORT double distance(double north, double east);
PLACES_EXPORT Place place(double north, double east, unsigned char zone = 7);
PLACES_EXPORT long sum(const Place &p);
PLACES_EXPORT void fill(Place *p, int from);
PLACES_EXPORT long sum_all(const Place *all, int count);
PLACES_EXPORT int in_unit(int metres, Unit unit);
PLACES_EXPORT extern Place home;
inline double halved(const Place &p) { return p.north / 2; }
inline int planets(int extra = Planets) { return extra + 1; }
}
