/* libsnappy 1.1.1 -> 1.1.4: breaks. The vector of RawUncompressToIOVec is another type: so is its symbol. */
#include <string>
#include <snappy.h>

/* Whatever namespace the header takes iovec from. */
struct Pieces {
    void *base;
    size_t length;
    template <class T> operator const T *() const { return reinterpret_cast<const T *>(this); }
};

int main()
{
    char text[5];
    std::string packed;
    snappy::Compress("hello", 5, &packed);
    Pieces pieces{text, sizeof text};
    bool done = snappy::RawUncompressToIOVec(packed.data(), packed.size(), pieces, 1);
    return !done || std::string(text, 5) != "hello";
}
