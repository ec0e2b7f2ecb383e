/* What HTSlib's Makefile writes, without the names of flags that only `htsfile --version` shows. */
#define HTS_CC "gcc"
#define HTS_CPPFLAGS ""
#define HTS_CFLAGS ""
#define HTS_LDFLAGS ""
#define HTS_LIBS ""
