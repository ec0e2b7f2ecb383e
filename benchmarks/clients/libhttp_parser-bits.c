/* libhttp_parser 2.9.0 -> 2.9.4: works. Bits moved between private members. */
#include <http_parser.h>
#include <string.h>

int main(void) {
    struct { http_parser parser; unsigned char guard[64]; } own;
    http_parser_settings settings;
    const char *text = "GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n";
    memset(&own, 0xA5, sizeof own);
    http_parser_settings_init(&settings);
    http_parser_init(&own.parser, HTTP_REQUEST);
    if (http_parser_execute(&own.parser, &settings, text, strlen(text)) != strlen(text)) return 2;
    for (unsigned i = 0; i < sizeof own.guard; i++)
        if (own.guard[i] != 0xA5) return 1;
    return !own.parser.upgrade || own.parser.method != HTTP_GET || own.parser.http_minor != 1;
}
