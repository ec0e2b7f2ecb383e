#include <streams.h>
#include "watch.h"
struct Ear : io::Listener {
    int opens = 0, bytes = 0, closes = 0;
    void opened(io::Stream *) override { opens++; }
    int received(const char *from, int count) override { return bytes += count + (from[0] == 't'); }
    void closed() override { closes++; }
};
struct Zeros : io::Stream {
    int left = 20, written = 0;
    int read(char *to, int most) override { int got = left < most ? left : most; memset(to, '0', got); left -= got; return got; }
    int write(const char *, int count) override { written += count; return count; }
    bool flush() override { puts("flushed"); return written > 5; }
};
struct Loud : io::Buffered {
    int writes = 5;
    char last = 'l';
    Loud() : Buffered(50) {}
    int write(const char *from, int count) override { writes++; return Buffered::write(from, count); }
};
int main() {
    Guarded<Loud> loud;
    Guarded<io::Buffered> buffered(100);
    Guarded<Zeros> zeros;
    Ear ear;
    SHOW(io::send(*buffered.it, "text")), SHOW(buffered->used()), SHOW(io::send_twice(*buffered.it, "ab"));
    buffered->listen(&ear), SHOW(ear.opens), SHOW(io::send(*buffered.it, "to", 3)), SHOW(ear.bytes);
    SHOW(io::receive(buffered.it, ear)), SHOW(ear.closes), SHOW(buffered->used());
    SHOW(zeros->copy(*buffered.it)), SHOW(buffered->used());
    SHOW(io::send(*zeros.it, "no")), SHOW(io::send(*zeros.it, "longer")), SHOW(zeros->written);
    char some[32] = "";
    SHOW(buffered->read(some, 4)), SHOW(some[1]), SHOW(buffered->flush());
    SHOW(io::send(*loud.it, "loud")), SHOW(loud->writes), SHOW(loud->last), SHOW(loud->used());
    loud->listen(&ear), SHOW(loud->writes), SHOW(loud->last), SHOW(loud->read(some, 3));
    io::Stream *opened = io::Stream::open("name", io::Write);
    SHOW(io::send(*opened, "opened")), SHOW(io::Stream::count), SHOW(opened->copy(*zeros.it));
    delete opened;
    opened = io::Stream::open("name", io::Read);
    SHOW(opened != nullptr), SHOW(io::Stream::count++), SHOW(io::Stream::count);
    delete opened;
    ENDED(buffered), ENDED(zeros), ENDED(loud);
    SHOW(ear.closes);
}
