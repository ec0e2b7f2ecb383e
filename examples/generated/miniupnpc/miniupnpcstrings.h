/* What the library's own makefile writes: who it says it is when it speaks to a router. */
#define OS_STRING "Linux/1"
#define MINIUPNPC_VERSION_STRING "1"
#define UPNP_VERSION_MAJOR 1
#define UPNP_VERSION_MINOR 1
#define UPNP_VERSION_STRING "UPnP/1.1"
