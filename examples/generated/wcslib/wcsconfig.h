/* What configure of WCSLIB writes on Linux; the case study's command line says WCSLIB_VERSION. */
#define HAVE_WCSLIB_VERSION
#define HAVE_SINCOS 1
#define WCSLIB_INT64 long long int
