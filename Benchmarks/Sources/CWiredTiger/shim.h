#pragma once
#include <wiredtiger.h>

// Swift does not call functions with a variable number of arguments.

static inline void wt_set_key(WT_CURSOR *cursor, WT_ITEM *key) { cursor->set_key(cursor, key); }
static inline void wt_set_value(WT_CURSOR *cursor, WT_ITEM *value) { cursor->set_value(cursor, value); }
static inline int wt_get_key(WT_CURSOR *cursor, WT_ITEM *key) { return cursor->get_key(cursor, key); }
static inline int wt_get_value(WT_CURSOR *cursor, WT_ITEM *value) { return cursor->get_value(cursor, value); }
