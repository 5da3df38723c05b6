// What the embedded standard library needs of a C library. Memory is taken in order and never returned: the program ends soon.

typedef unsigned long size;

extern unsigned char __heap_base;
static size end = 0;

int posix_memalign(void **result, size alignment, size count) {
  if (end == 0) end = (size)&__heap_base;
  size start = (end + alignment - 1) & ~(alignment - 1);
  if (start + count > __builtin_wasm_memory_size(0) * 65536UL) return 12;
  end = start + count;
  *result = (void *)start;
  return 0;
}

void free(void *memory) {}

void *memmove(void *target, const void *source, size count) {
  unsigned char *to = target;
  const unsigned char *from = source;
  if (to < from) {
    for (size place = 0; place < count; place++) to[place] = from[place];
  } else {
    for (size place = count; place > 0; place--) to[place - 1] = from[place - 1];
  }
  return target;
}

void *memcpy(void *target, const void *source, size count) { return memmove(target, source, count); }

void *memset(void *target, int value, size count) {
  for (size place = 0; place < count; place++) ((unsigned char *)target)[place] = (unsigned char)value;
  return target;
}

int memcmp(const void *left, const void *right, size count) {
  const unsigned char *a = left, *b = right;
  for (size place = 0; place < count; place++) {
    if (a[place] != b[place]) return a[place] < b[place] ? -1 : 1;
  }
  return 0;
}
