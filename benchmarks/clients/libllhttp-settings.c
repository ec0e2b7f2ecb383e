/* libllhttp 6.0.9 -> 8.1.1: breaks. Callbacks were inserted among those that callers fill in. */
#include <llhttp.h>
#include <string.h>

static int complete;

static int done(llhttp_t *parser) {
    (void)parser;
    complete++;
    return 0;
}

int main(void) {
    struct { llhttp_settings_t settings; unsigned char guard[256]; } own;
    llhttp_t parser;
    const char *text = "GET / HTTP/1.1\r\n\r\n";
    memset(&own, 0, sizeof own);
    own.settings.on_message_complete = done;
    llhttp_init(&parser, HTTP_REQUEST, &own.settings);
    llhttp_execute(&parser, text, strlen(text));
    return complete != 1;
}
