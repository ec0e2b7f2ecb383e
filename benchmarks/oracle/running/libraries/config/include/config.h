#pragma once
#ifdef __cplusplus
extern "C" {
#endif
enum config_level {
    CONFIG_LOW = 10,
    CONFIG_MIDDLE = 20,
    CONFIG_HIGH = 30
};
typedef enum config_level config_level;
struct config_range {
    int least;
    int most;
};
struct config_options {
    const char *name;
    struct config_range range;
    config_level level;
    unsigned strict : 1;
    unsigned quiet : 1;
    void *reserved[2];
};
typedef struct config_options config_options;
void config_options_init(config_options *p);
long config_options_sum(const config_options *p);
int config_level_number(config_level level);
const char *config_get(const char *key);
int config_set(const char *key, const char *value);
char *config_copy(const char *text);
void config_release(char *text);
int config_range_of(config_level level, struct config_range *p);
struct config_range config_widened(struct config_range range, int by);
#ifdef __cplusplus
}
#endif
