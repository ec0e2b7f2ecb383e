#include <values.h>
#include "watch.h"
int main() {
    Guarded<val::Money> money;
    Guarded<val::Date> date(2024, 12);
    Guarded<val::Entry> entry;
    Guarded<val::Tagged> tagged;
    money->units = 4, money->cents = 50;
    val::Money braces = {5, 6};
    SHOW(val::sum(*money.it)), SHOW(val::sum(braces));
    *money.it = val::add(*money.it, braces);
    SHOW(money->units), SHOW(money->cents);
    val::fill(*money.it, 70), SHOW(money->units), SHOW(money->cents);
    SHOW(date->year()), SHOW(date->month());
    val::Date next = date->next(), none, array[2];
    SHOW(next.year()), SHOW(next.month()), SHOW(*date.it < next), SHOW(none.year()), SHOW(array[1].year());
    val::Date copied = next;
    copied = val::latest(*date.it, next);
    SHOW(copied.year());
    val::Entry made = val::entry(1999, 8), same = made;
    SHOW(made.date.year()), SHOW(made.money.units), SHOW(made.open), SHOW(val::sum(made)), SHOW(val::sum(same));
    SHOW(entry->open), entry->money = braces, SHOW(val::sum(*entry.it));
    val::fill(*entry.it, 3), SHOW(entry->date.year()), SHOW(entry->money.cents), SHOW(entry->open);
    val::Entry entries[3];
    for (val::Entry &each : entries) each.money = braces;
    entries[1].open = false, SHOW(val::sum(entries, 3));
    val::Text one = "one", two("two"), third = val::joined(one, two);
    puts(third.get()), SHOW(third.length());
    third = two, puts(third.get());
    val::Text fourth = val::joined("a", "b");
    puts(fourth.get());
    tagged->unit = val::Unit(), tagged->tag = 6, SHOW(val::tag(*tagged.it, val::Unit(), 3));
    const val::Unit &base = *tagged.it;
    SHOW((const void *)&base != nullptr);
    *tagged.it = val::tagged(8), SHOW(tagged->tag);
    SHOW(val::rounded(1.255)), SHOW(val::rounded(2.5, 1)), SHOW(val::rounded(2.5f));
    ENDED(money), ENDED(date), ENDED(entry), ENDED(tagged);
}
