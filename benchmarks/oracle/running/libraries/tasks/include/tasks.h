#pragma once
namespace work {
class Failure {
public:
    Failure(int code, const char *what);
    virtual ~Failure();
    virtual const char *what() const;
    int code;
private:
    const char *text;
};
class Timeout : public Failure {
public:
    explicit Timeout(long after);
    const char *what() const override;
    long after;
};
struct Named {
    const char *name;
    int uses;
    virtual ~Named();
};
struct Timed : virtual Named {
    long started;
    virtual long elapsed(long now) const;
};
struct Counted : virtual Named {
    int runs;
    virtual int run(int times);
};
class Task : public Timed, public Counted {
public:
    Task(const char *name);
    int run(int times) override;
    virtual int priority() const;
    int state;
};
int run_all(Counted *const *all, int count);
long elapsed(const Timed &task, long now);
int uses(const Named *named);
void fail(int code) noexcept(false);
Task *task_find(Named *named);
Failure *failure_new(long after);
}
