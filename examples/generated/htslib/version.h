/* What HTSlib's Makefile writes; the case study's command line says RELEASE. */
#define HTS_VERSION_TEXT RELEASE
