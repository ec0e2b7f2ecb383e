/* The sources of libharfbuzz-subset beside hb-subset.cc, as HarfBuzz's meson.build lists them: each release has some. */
#if __has_include("hb-number.cc")
#include "hb-number.cc"
#endif
#if __has_include("hb-ot-cff1-table.cc")
#include "hb-ot-cff1-table.cc"
#endif
#if __has_include("hb-ot-cff2-table.cc")
#include "hb-ot-cff2-table.cc"
#endif
#if __has_include("hb-static.cc")
#include "hb-static.cc"
#endif
#if __has_include("hb-subset-cff-common.cc")
#include "hb-subset-cff-common.cc"
#endif
#if __has_include("hb-subset-cff1.cc")
#include "hb-subset-cff1.cc"
#endif
#if __has_include("hb-subset-cff2.cc")
#include "hb-subset-cff2.cc"
#endif
#if __has_include("hb-subset-cff2-to-cff1.cc")
#include "hb-subset-cff2-to-cff1.cc"
#endif
#if __has_include("hb-subset-input.cc")
#include "hb-subset-input.cc"
#endif
#if __has_include("hb-subset-instancer-iup.cc")
#include "hb-subset-instancer-iup.cc"
#endif
#if __has_include("hb-subset-instancer-solver.cc")
#include "hb-subset-instancer-solver.cc"
#endif
#if __has_include("hb-subset-plan.cc")
#include "hb-subset-plan.cc"
#endif
#if __has_include("hb-subset-plan-layout.cc")
#include "hb-subset-plan-layout.cc"
#endif
#if __has_include("hb-subset-plan-var.cc")
#include "hb-subset-plan-var.cc"
#endif
#if __has_include("hb-subset-repacker.cc")
#include "hb-subset-repacker.cc"
#endif
#if __has_include("hb-subset-serialize.cc")
#include "hb-subset-serialize.cc"
#endif
#if __has_include("hb-subset-table-cff.cc")
#include "hb-subset-table-cff.cc"
#endif
#if __has_include("hb-subset-table-color.cc")
#include "hb-subset-table-color.cc"
#endif
#if __has_include("hb-subset-table-layout.cc")
#include "hb-subset-table-layout.cc"
#endif
#if __has_include("hb-subset-table-other.cc")
#include "hb-subset-table-other.cc"
#endif
#if __has_include("hb-subset-table-var.cc")
#include "hb-subset-table-var.cc"
#endif
#if __has_include("hb-depend.cc")
#include "hb-depend.cc"
#endif
#if __has_include("OT/Var/VARC/VARC.cc")
#include "OT/Var/VARC/VARC.cc"
#endif
#if __has_include("graph/gsubgpos-context.cc")
#include "graph/gsubgpos-context.cc"
#endif
