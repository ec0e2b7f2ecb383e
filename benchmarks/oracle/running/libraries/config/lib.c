#include "config.h"
#include <stdlib.h>
#include <string.h>
static char kept[32] = "nothing";
void config_options_init(config_options *p) {
    p->name = "options";
    p->range.least = 3;
    p->range.most = 9;
    p->level = CONFIG_MIDDLE;
    p->strict = 1;
    p->quiet = 0;
    memset(p->reserved, 0, sizeof p->reserved);
    //@ writes config_options p
}
long config_options_sum(const config_options *p) {
    long sum = 0;
    sum += p->name ? strlen(p->name) : 0;
    sum += 10 * p->range.least;
    sum += 100 * p->range.most;
    sum += 1000 * (long)p->level;
    sum += p->strict ? 7 : 0;
    sum += p->quiet ? 5 : 0;
    sum += p->reserved[0] ? 90000 : 0;
    //@ reads config_options p
    return sum;
}
int config_level_number(config_level level) {
    return level == CONFIG_LOW ? 1 : level == CONFIG_MIDDLE ? 2 : level == CONFIG_HIGH ? 3 : 0;
}
const char *config_get(const char *key) {
    return strcmp(key, "kept") ? 0 : kept;
}
int config_set(const char *key, const char *value) {
    strncpy(kept, value, sizeof kept - 1);
    return key[0];
}
char *config_copy(const char *text) {
    return strdup(text);
}
void config_release(char *text) {
    free(text);
}
int config_range_of(config_level level, struct config_range *p) {
    p->least = level;
    p->most = level + 9;
    //@ writes config_range p
    return config_level_number(level);
}
struct config_range config_widened(struct config_range range, int by) {
    range.least -= by;
    range.most += by;
    return range;
}
