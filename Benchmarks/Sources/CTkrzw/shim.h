#pragma once
#include <stdbool.h>
#include <tkrzw_langc.h>

/// What a processor returns to leave a record as it is.
static inline const char *tkrzw_no_operation(void) { return TKRZW_REC_PROC_NOOP; }
