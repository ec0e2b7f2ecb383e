#include <tasks.h>
#include "watch.h"
struct Mine : work::Task {
    int own = 66;
    Mine() : Task("mine") {}
    int priority() const override { return own; }
    long elapsed(long now) const override { return now * 2 + started; }
};
struct Alone : work::Counted {
    int more = 5;
    Alone() { name = "alone", uses = 1, runs = 2; }
    int run(int times) override { return Counted::run(times + more); }
};
struct Worse : work::Failure {
    Worse() : Failure(9, "worse") {}
    const char *what() const override { return "worst"; }
    int depth = 31;
};
int main() {
    Guarded<work::Task> task("task");
    Guarded<Mine> mine;
    Guarded<Alone> alone;
    Guarded<Worse> worse;
    SHOW(task->state), SHOW(task->started), SHOW(task->runs), SHOW(task->uses), puts(task->name);
    const work::Task &converted = "converted";
    puts(converted.name);
    SHOW(task->run(4)), SHOW(task->priority()), SHOW(task->elapsed(30)), SHOW(task->uses), SHOW(task->state);
    work::Counted *all[] = {task.it, mine.it, alone.it};
    SHOW(work::run_all(all, 3)), SHOW(mine->runs), SHOW(alone->runs), SHOW(mine->own), SHOW(alone->more);
    SHOW(work::elapsed(*task.it, 50)), SHOW(work::elapsed(*mine.it, 50)), SHOW(work::uses(mine.it)), SHOW(work::uses(alone.it));
    SHOW(work::task_find(mine.it) == mine.it), SHOW(work::task_find(alone.it) == nullptr);
    const int codes[] = {110, 4};
    for (int code : codes)
        try { work::fail(code); }
        catch (const work::Timeout &caught) { SHOW(caught.after), SHOW(caught.code), puts(caught.what()); }
        catch (const work::Failure &caught) { SHOW(caught.code), puts(caught.what()); }
    SHOW(worse->code), SHOW(worse->depth), puts(worse->what()), puts(worse->Failure::what());
    work::Failure *made = work::failure_new(3);
    puts(made->what()), SHOW(made->code), SHOW(static_cast<work::Timeout *>(made)->after), SHOW(dynamic_cast<work::Timeout *>(made) == made);
    delete made;
    ENDED(task), ENDED(mine), ENDED(alone), ENDED(worse);
}
