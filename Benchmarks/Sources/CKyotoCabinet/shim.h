#pragma once
#include <kclangc.h>

/// What a visitor returns to leave a record as it is.
static inline const char *kc_no_operation(void) { return KCVISNOP; }
