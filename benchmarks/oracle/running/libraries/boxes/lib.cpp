#include "boxes.h"
namespace box {
template struct Range<long>;
namespace detail {
long count(const Key &p) {
    long sum = 0;
    sum += 3 * p.value;
    sum += 100 * p.seed;
    //@ reads Key (&p)
    return sum + mixed(2);
}
}
long total(const Ints &p) {
    long sum = 0;
    for (int at = 0; at < p.count(); at++) sum = sum * 5 + p.at(at);
    //@ reads Ring (&p)
    return sum;
}
void load(Ints &p, int from) {
    for (int at = 0; at < 3; at++) p.push(from + at);
    //@ writes Ring (&p)
}
double total(const Doubles &p) {
    double sum = 0;
    for (int at = 0; at < p.count(); at++) sum += p.at(at);
    return sum;
}
Ints rotated(Ints from, int by) {
    while (by--) from.push(from.at(0));
    return from;
}
long spans(const Range<long> *all, int count) {
    long sum = 0;
    for (int at = 0; at < count; at++) sum = sum * 7 + all[at].span();
    return sum;
}
template <> int largest<int>(int one, int other) {
    return one < other ? other : one;
}
inline namespace v1 {
int made(int from) {
    return from + version();
}
}
}
