#ifndef LEGACY_H
#define LEGACY_H
#include <stddef.h>
typedef unsigned int legacy_id;
class Secret;
class Handle {
public:
    Handle(legacy_id id);
    Handle(Handle &&other);
    ~Handle();
    legacy_id id() const;
    int use(int amount, void (*done)(int result));
    void *operator new(size_t size);
    void operator delete(void *place);
    operator bool() const;
protected:
    int level;
    int secret(int key) const;
private:
    Secret *hidden;
    bool closed : 1;
    bool dirty : 1;
};
struct Record {
    legacy_id id;
    char name[8];
    union { int number; float real; };
    const int *shared;
    bool valid() const { return id != 0 && name[0] != 0; }
};
class Shared {
public:
    static Shared &instance();
    int count;
    mutable int reads;
    int read() const;
    Shared &operator+=(int by);
private:
    Shared();
};
Record record_of(const Handle &handle);
long record_sum(const Record *p);
long record_all(const Record *all, int count);
void record_fill(Record *p, int from);
bool operator==(const Record &one, const Record &other);
extern "C" int legacy_init(int argc, char **argv);
extern "C" const char *legacy_error(int code);
extern volatile int legacy_state;
#endif
