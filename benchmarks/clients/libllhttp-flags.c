/* libllhttp 8.1.1 -> 9.2.1: breaks. Members of the parser moved, which callers read. */
#include <llhttp.h>
#include <string.h>

static int seen;

static int complete(llhttp_t *parser) {
    seen = parser->status_code == 200 && (parser->flags & F_CONTENT_LENGTH) && parser->content_length == 2;
    return 0;
}

int main(void) {
    struct { llhttp_t parser; unsigned char guard[256]; } own;
    llhttp_settings_t settings;
    const char *text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    llhttp_settings_init(&settings);
    settings.on_headers_complete = complete;
    llhttp_init(&own.parser, HTTP_RESPONSE, &settings);
    llhttp_execute(&own.parser, text, strlen(text));
    return !seen;
}
