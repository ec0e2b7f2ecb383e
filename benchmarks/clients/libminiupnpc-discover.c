/* libminiupnpc 1.9 -> 2.2.7: breaks. A pointer arrives where a number is expected. */
#include <miniupnpc.h>
#include <stddef.h>

int main(void) {
    int error = -77;
    struct UPNPDev *found = upnpDiscover(1, "", NULL, 0, 0, &error);
    freeUPNPDevlist(found);
    return error == -77;
}
