/* libllhttp 4.0.0 -> 6.0.6: breaks. An error code that callbacks return has another number. */
#include <llhttp.h>
#include <string.h>

static int refuse(llhttp_t *parser, const char *at, size_t length) {
    (void)parser, (void)at, (void)length;
    return HPE_USER;
}

int main(void) {
    llhttp_t parser;
    llhttp_settings_t settings;
    const char *text = "GET / HTTP/1.1\r\n\r\n";
    llhttp_settings_init(&settings);
    settings.on_url = refuse;
    llhttp_init(&parser, HTTP_REQUEST, &settings);
    llhttp_execute(&parser, text, strlen(text));
    return strcmp(llhttp_errno_name(HPE_USER), "HPE_USER") != 0;
}
