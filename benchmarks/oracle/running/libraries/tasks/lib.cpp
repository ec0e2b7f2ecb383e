#include "tasks.h"
namespace work {
Failure::Failure(int code, const char *what) {
    this->code = code;
    text = what;
    //@ writes Failure this
}
Failure::~Failure() {
}
const char *Failure::what() const {
    return text;
}
Timeout::Timeout(long after) : Failure(110, "timeout") {
    this->after = after;
    //@ writes Timeout this
}
const char *Timeout::what() const {
    return after > 5 ? "long timeout" : "timeout";
}
Named::~Named() {
}
long Timed::elapsed(long now) const {
    return now - started;
}
int Counted::run(int times) {
    runs += times;
    return runs;
}
Task::Task(const char *name) {
    this->name = name;
    uses = 0;
    started = 10;
    runs = 0;
    state = 2;
    //@ writes Task this
}
int Task::run(int times) {
    uses++;
    state = 3;
    return Counted::run(times) * priority();
}
int Task::priority() const {
    return 2;
}
int run_all(Counted *const *all, int count) {
    int sum = 0;
    for (int at = 0; at < count; at++) sum = sum * 3 + all[at]->run(at + 1);
    return sum;
}
long elapsed(const Timed &task, long now) {
    return task.elapsed(now) + task.uses;
}
int uses(const Named *named) {
    return named->uses + named->name[0];
}
void fail(int code) noexcept(false) {
    if (code == 110) throw Timeout(7);
    throw Failure(code, "failed");
}
Task *task_find(Named *named) {
    return dynamic_cast<Task *>(named);
}
Failure *failure_new(long after) {
    return new Timeout(after);
}
}
