#pragma once
namespace box {
namespace detail {
struct Key {
    int value;
    int seed;
};
long count(const Key &p);
inline int mixed(int value) { return value * 31 + 7; }
}
}
