#include <places.h>
#include "watch.h"
int main() {
    Guarded<geo::Place> place;
    Guarded<geo::Route> route;
    geo::Route longer(6);
    place->north = 3, place->east = 4, place->half = geo::Hemisphere::South, place->zone = 5;
    SHOW(geo::sum(*place.it)), SHOW(geo::halved(*place.it) * 4);
    const geo::Route &converted = 3;
    SHOW(converted.size());
    geo::Place listed = {1, 2, geo::Hemisphere::North, 3};
    SHOW(geo::sum(listed)), SHOW(geo::distance(*place.it, listed)), SHOW(geo::distance(1.0, 2.0)), SHOW(geo::distance(listed, *place.it, geo::Mile));
    SHOW(route->add(*place.it)), SHOW(route->add(listed)), SHOW(route->add(geo::place(8, 9))), SHOW(route->size());
    listed.zone = 0, SHOW(longer.add(listed)), SHOW(longer.add(listed, false));
    SHOW(route->length()), SHOW(route->length(geo::Foot)), SHOW(route->length(geo::Foot, 3));
    SHOW((*route.it)[2].north), SHOW((*route.it)[2].zone), SHOW((long)(*route.it)[0].half);
    SHOW(geo::Route::shortest(route.it, &longer) == &longer), SHOW(geo::Route::made), SHOW(geo::Route::Most);
    geo::Route::Leg leg = route->leg(4);
    SHOW(leg.from), SHOW(leg.to), SHOW(route->kind() == geo::Route::Curved);
    geo::fill(place.it, 20), SHOW(place->north), SHOW(place->east), SHOW((long)place->half), SHOW(place->zone);
    geo::Place three[3] = {listed, *place.it, listed};
    SHOW(geo::sum_all(three, 3));
    SHOW(geo::in_unit(5000, geo::Metre)), SHOW(geo::in_unit(5000, geo::Foot)), SHOW(geo::in_unit(5000, geo::Mile));
    SHOW(geo::home.north), SHOW((long)geo::home.half), SHOW(geo::home.zone), geo::home.zone = 4, SHOW(geo::sum(geo::home));
    SHOW(geo::planets()), SHOW(geo::Planets), SHOW(geo::Radius);
    ENDED(place), ENDED(route);
}
