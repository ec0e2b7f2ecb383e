/* What configure of HTSlib writes on Linux without libcurl, bzip2, lzma and libdeflate. */
#define _GNU_SOURCE 1
#define HAVE_DRAND48 1
#define HAVE_FDATASYNC 1
#define HAVE_FSYNC 1
#define HAVE_GETPAGESIZE 1
#define HAVE_GMTIME_R 1
#define HAVE_MMAP 1
#define PLUGIN_EXT ".so"
