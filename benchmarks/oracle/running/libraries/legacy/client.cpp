#include <legacy.h>
#include "watch.h"
static void done(int result) { SHOW(result); }
struct Near : Handle {
    char behind = 'b';
    Near() : Handle(7) {}
};
struct Mine : Handle {
    int own = 44;
    Mine() : Handle(6) {}
    int told() const { return secret(3) + level + own; }
};
int main() {
    Guarded<Handle> handle(12u);
    Guarded<Mine> mine;
    Guarded<Record> record;
    Guarded<Near> near;
    near->use(3, done), SHOW(near->behind);
    Near passed(static_cast<Near &&>(*near.it));
    SHOW(passed.behind), SHOW((bool)passed), SHOW((bool)*near.it);
    SHOW(handle->id()), SHOW(handle->use(4, done)), SHOW((bool)*handle.it), SHOW((bool)*mine.it), SHOW(mine->told()), SHOW(mine->own);
    const Handle &converted = 5u;
    SHOW(converted.id());
    Handle moved = static_cast<Handle &&>(Handle(21));
    Handle taken(static_cast<Handle &&>(moved));
    SHOW(taken.id()), SHOW(taken.use(2, done));
    Handle *made = new Handle(3);
    SHOW(made->id());
    delete made;
    record->id = 4, memcpy(record->name, "recorda", 8), record->number = 6, record->shared = nullptr;
    SHOW(record_sum(record.it)), SHOW(record->valid());
    Record two[2] = {*record.it, record_of(*handle.it)};
    SHOW(record_sum(&two[1])), SHOW(two[1].id), SHOW(two[1].number), SHOW(two[1].name[7]), SHOW(*two[1].shared), SHOW(two[0] == *record.it);
    SHOW(record_all(two, 2));
    record_fill(record.it, 30), SHOW(record->id), SHOW(record->name[7]), SHOW(record->number), SHOW(*record->shared);
    Shared &shared = Shared::instance();
    shared.count = 7, shared += 2, SHOW(shared.read()), SHOW(shared.reads), SHOW(shared.count);
    char name[] = "name", *words[] = {name};
    SHOW(legacy_init(1, words)), puts(legacy_error(1)), SHOW(legacy_state), legacy_state = 5, SHOW(legacy_state);
    legacy_id id = 8;
    SHOW(id);
    ENDED(handle), ENDED(mine), ENDED(near), ENDED(record);
}
