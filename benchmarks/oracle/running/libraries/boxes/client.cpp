#include <boxes.h>
#include "watch.h"
int main() {
    Guarded<box::Ints> ints;
    Guarded<box::Doubles> doubles;
    Guarded<box::Range<long>> range;
    for (int at = 0; at < 6; at++) ints->push(at * at);
    SHOW(box::total(*ints.it)), SHOW(ints->used), SHOW(ints->first), SHOW(ints->at(1));
    box::load(*ints.it, 40), SHOW(ints->at(0)), SHOW(ints->at(3)), SHOW(ints->count());
    doubles->push(2.5), doubles->push(3.5), doubles->push(4.5), SHOW(box::total(*doubles.it) * 2);
    box::Ints turned = box::rotated(*ints.it, 2);
    SHOW(turned.at(0)), SHOW(turned.at(3));
    range->low = 4, range->high = 11, SHOW(range->span()), SHOW(range->holds(10));
    box::Range<long> two[2] = {{1, 5}, {2, 9}};
    SHOW(box::spans(two, 2));
    *range.it = two[1], SHOW(range->low);
    box::Range<short> small = {3, 4};
    SHOW(small.span()), SHOW(small.holds(4));
    SHOW(box::largest(3, 4)), SHOW(box::largest(2.5, 1.5)), SHOW(box::counted(*ints.it)), SHOW(box::made(6)), SHOW(box::version());
    ENDED(ints), ENDED(doubles), ENDED(range);
}
