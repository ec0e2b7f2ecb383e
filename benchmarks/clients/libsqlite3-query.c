/* libsqlite3 3.37.2 -> 3.39.0: works. Handles and values are the library's own, and callbacks are called as before. */
/* libsqlite3 3.39.0 -> 3.40.0: works. Handles and values are the library's own, and callbacks are called as before. */
#include <string.h>
#include <sqlite3.h>

static void twice(sqlite3_context *context, int count, sqlite3_value **values)
{
    sqlite3_result_int(context, 2 * sqlite3_value_int(values[0]));
}

static int row(void *sum, int columns, char **texts, char **names)
{
    *(int *)sum += texts[0][0] - '0';
    return 0;
}

int main(void)
{
    sqlite3 *db;
    int sum = 0;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        return 2;
    sqlite3_create_function(db, "twice", 1, SQLITE_UTF8, NULL, twice, NULL, NULL);
    if (sqlite3_exec(db, "create table t(a); insert into t values(1),(2); select twice(a) from t", row, &sum, NULL))
        return 3;
    return sqlite3_close(db) != SQLITE_OK || sum != 6;
}
