#include <config.h>
#include "watch.h"
int main() {
    Guarded<config_options> options;
    Guarded<config_range> range;
    options->name = "mine", options->range.least = 1, options->range.most = 2, options->level = CONFIG_HIGH;
    options->strict = 0, options->quiet = 1;
    SHOW(config_options_sum(options.it));
    config_options_init(options.it);
    puts(options->name), SHOW(options->range.least), SHOW(options->range.most), SHOW(options->level);
    SHOW(options->strict), SHOW(options->quiet);
    config_options two[2] = {*options.it, *options.it};
    SHOW(config_options_sum(&two[1]));
    SHOW(config_level_number(CONFIG_LOW)), SHOW(config_level_number(CONFIG_MIDDLE)), SHOW(config_level_number(CONFIG_HIGH));
    puts(config_get("kept")), SHOW(config_set("kept", "new value")), puts(config_get("kept"));
    char *copied = config_copy("copied");
    puts(copied), config_release(copied);
    SHOW(config_range_of(CONFIG_LOW, range.it)), SHOW(range->least), SHOW(range->most);
    config_range wider = config_widened(*range.it, 4);
    SHOW(wider.least), SHOW(wider.most);
    ENDED(options), ENDED(range);
}
