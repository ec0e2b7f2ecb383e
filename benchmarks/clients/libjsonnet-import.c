/* libjsonnet 0.18.0 -> 0.19.1: breaks. A callback is called with other arguments and its result means another thing. */
#include <libjsonnet.h>
#include <stdlib.h>
#include <string.h>

static struct JsonnetVm *machine;

static char *import(void *data, const char *base, const char *name, char **found, int *success) {
    (void)data, (void)base;
    char *text = jsonnet_realloc(machine, NULL, 3);
    *found = jsonnet_realloc(machine, NULL, strlen(name) + 1);
    strcpy(*found, name), strcpy(text, "42");
    *success = 1;
    return text;
}

int main(void) {
    int error = 0;
    machine = jsonnet_make();
    jsonnet_import_callback(machine, import, NULL);
    char *answer = jsonnet_evaluate_snippet(machine, "x", "import 'y'", &error);
    return error || strcmp(answer, "42\n") != 0;
}
