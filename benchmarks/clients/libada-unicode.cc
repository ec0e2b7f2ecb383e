/* libada 2.7.7 -> 2.9.2: breaks. ada::unicode::to_unicode, which ada.h declares, is gone. */
#include <ada.h>

int main() { return ada::unicode::to_unicode("xn--mgba3gch31f060k.com").empty(); }
