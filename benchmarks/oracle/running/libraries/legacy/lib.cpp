#include "legacy.h"
#include <stdlib.h>
#include <string.h>
class Secret {
public:
    int key;
    int used;
};
volatile int legacy_state = -4;
static int three = 3;
Handle::Handle(legacy_id id) {
    hidden = new Secret;
    hidden->key = id;
    hidden->used = 0;
    level = 5;
    closed = false;
    dirty = true;
    //@ writes Handle this
}
Handle::Handle(Handle &&other) {
    hidden = other.hidden;
    level = other.level + 1;
    closed = false;
    dirty = other.dirty;
    other.hidden = nullptr;
    //@ writes Handle this
}
Handle::~Handle() {
    delete hidden;
}
legacy_id Handle::id() const {
    return hidden->key;
}
int Handle::use(int amount, void (*done)(int result)) {
    hidden->used += amount;
    done(hidden->used + level);
    return hidden->used;
}
void *Handle::operator new(size_t size) {
    return memset(malloc(size), 0, size);
}
void Handle::operator delete(void *place) {
    free(place);
}
Handle::operator bool() const {
    return !closed && dirty;
}
int Handle::secret(int key) const {
    return hidden->key * key + level;
}
Shared::Shared() {
    count = 1;
    reads = 0;
    //@ writes Shared this
}
Shared &Shared::instance() {
    static Shared *only = new Shared;
    return *only;
}
int Shared::read() const {
    return count * 10 + ++reads;
}
Shared &Shared::operator+=(int by) {
    count += by;
    return *this;
}
Record record_of(const Handle &handle) {
    Record made;
    memset(&made, 0, sizeof made);
    record_fill(&made, handle.id());
    return made;
}
long record_sum(const Record *p) {
    long sum = 0;
    sum += 3 * (long)p->id;
    for (unsigned at = 0; at < sizeof p->name; at++) sum += (at + 1) * p->name[at];
    sum += 1000 * p->number;
    sum += p->shared ? *p->shared : 0;
    //@ reads Record p
    return sum;
}
void record_fill(Record *p, int from) {
    p->id = from;
    memset(p->name, 'r', sizeof p->name);
    p->number = from + 2;
    p->shared = &three;
    //@ writes Record p
}
bool operator==(const Record &one, const Record &other) {
    return one.id == other.id && one.number == other.number;
}
extern "C" int legacy_init(int argc, char **argv) {
    return argc + argv[0][0];
}
extern "C" const char *legacy_error(int code) {
    return code ? "error" : "none";
}
long record_all(const Record *all, int count) {
    long sum = 0;
    for (int at = 0; at < count; at++) sum += (at + 2) * record_sum(&all[at]);
    return sum;
}
