/* libada 2.7.3 -> 2.7.7: works. The private parse_ipv4 is called by the library alone. */
#include <ada.h>

int main()
{
    auto url = ada::parse<ada::url_aggregator>("http://user:pw@192.168.257/a/b?c#d");
    if (!url || url->get_hostname() != "192.168.1.1" || !url->has_hash())
        return 1;
    url->set_host("0x7f.1");
    url->set_port("8080");
    return url->get_href() != "http://user:pw@127.0.0.1:8080/a/b?c#d";
}
