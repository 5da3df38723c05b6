#include <mdbx.h>
