/* libada 2.6.8 -> 2.7.0: breaks. has_search is called by the slot of what now stands before it. */
#include <ada.h>

static bool searched(const ada::url_base &url) { return url.has_search(); }

int main()
{
    bool (*volatile call)(const ada::url_base &) = searched;
    auto with = ada::parse<ada::url_aggregator>("http://a/?b"), without = ada::parse<ada::url_aggregator>("http://a/#b");
    return !with || !without || !call(*with) || call(*without);
}
