#pragma once
#include "boxes_impl.h"
namespace box {
template <class T, int N = 4>
class Ring {
public:
    Ring() : used(0), first(0) {}
    void push(T value) { data[(first + used) % N] = value; if (used < N) used++; else first = (first + 1) % N; }
    T at(int index) const { return data[(first + index) % N]; }
    int count() const { return used; }
    int used;
    int first;
    T data[N];
};
template <class T>
struct Range {
    T low;
    T high;
    T span() const;
    bool holds(T value) const { return low <= value && value < high; }
};
template <class T> T Range<T>::span() const { return high - low; }
extern template struct Range<long>;
typedef Ring<int> Ints;
using Doubles = Ring<double, 2>;
long total(const Ints &p);
void load(Ints &p, int from);
double total(const Doubles &p);
Ints rotated(Ints from, int by);
long spans(const Range<long> *all, int count);
template <class T> T largest(T one, T other) { return one < other ? other : one; }
template <class T> long counted(const T &from) { return detail::count(detail::Key{from.count(), 3}); }
template <> int largest<int>(int one, int other);
inline int version() { return 3; }
inline namespace v1 {
int made(int from);
}
}
