/* libexpat 2.1.0 -> 2.2.0: works. Encodings are the library's own. */
#include <string.h>
#include <expat.h>

static int elements;

static void start(void *data, const XML_Char *name, const XML_Char **attributes) { elements++; }

int main(void)
{
    const char *text = "<?xml version='1.0' encoding='iso-8859-1'?><a><b c='\xe9'/></a>";
    XML_Parser parser = XML_ParserCreate(NULL);
    XML_SetStartElementHandler(parser, start);
    int status = XML_Parse(parser, text, (int)strlen(text), 1);
    XML_ParserFree(parser);
    return status == XML_STATUS_OK && elements == 2 ? 0 : 1;
}
