#include "streams.h"
#include <string.h>
namespace io {
int Stream::count = 0;
int Stream::copy(Stream &to) {
    char some[8];
    int got, sum = 0;
    while ((got = read(some, 8)) > 0) sum += to.write(some, got);
    return to.flush() ? sum : -sum;
}
Stream *Stream::open(const char *name, Mode mode) {
    count++;
    return mode == Read || mode == Write ? new Buffered(64) : nullptr;
}
Buffered::Buffered(int size) {
    memory = new char[size];
    begin = 0;
    end = 0;
    listener = nullptr;
    //@ writes Buffered this
}
Buffered::~Buffered() {
    if (listener) listener->closed();
    delete[] memory;
}
int Buffered::read(char *to, int most) {
    int got = end - begin < most ? end - begin : most;
    memcpy(to, memory + begin, got);
    begin += got;
    return got;
}
int Buffered::write(const char *from, int count) {
    memcpy(memory + end, from, count);
    end += count;
    return listener ? listener->received(from, count) : count;
}
int Buffered::used() const noexcept {
    return end - begin;
}
void Buffered::listen(Listener *listener) {
    this->listener = listener;
    listener->opened(this);
}
int send(Stream &stream, const char *text, int times) {
    int sum = 0;
    while (times--) sum += stream.write(text, strlen(text));
    return stream.flush() ? sum : -sum;
}
int receive(Stream *stream, Listener &listener) {
    char some[16];
    listener.opened(stream);
    int got = stream->read(some, 16);
    got = listener.received(some, got);
    listener.closed();
    return got;
}
}
