// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host code in the form that a compiler produces, for tests of the loader: constants, tables, data, internal and external
// calls.

#include <math.h>
#include <string.h>

static int counter;        // zeros
static float scale = 2.0f; // data
float exported_offset = 1; // accessed through the table of addresses
static const float kTable[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static const float *const kRows[2] = {kTable, kTable + 4}; // addresses in data

__attribute__((noinline)) float sample_scaled(float value) { return value * scale + exported_offset; }

// y[i] = sin(x[i]) * 2 + 1
void sample_sine(void *const *buffers) {
  const float *x = buffers[0];
  float *y = buffers[1];
  for (int i = 0; i < 4; ++i)
    y[i] = sample_scaled(sinf(x[i]));
}

// Copies both rows of the table and the number of calls.
void sample_tables(void *const *buffers) {
  float *y = buffers[0];
  memcpy(y, kRows[1], 4 * sizeof(float));
  memcpy(y + 4, kRows[0], 4 * sizeof(float));
  y[8] = (float)++counter;
}

// Uses a jump table.
void sample_switch(void *const *buffers) {
  const int *x = buffers[0];
  float *y = buffers[1];
  switch (*x) {
  case 0:
    *y = cosf(0);
    break;
  case 1:
    *y = expf(1);
    break;
  case 2:
    *y = 30;
    break;
  case 3:
    *y = powf(2, 5);
    break;
  case 4:
    *y = sqrtf(-4);
    break;
  case 5:
    *y = kTable[*x];
    break;
  default:
    *y = -1;
  }
}

// c = a + b, like an engine's host version, and a variant with one wrong element.
void sample_sum(void *const *buffers) {
  const float *a = buffers[0], *b = buffers[1];
  float *c = buffers[2];
  for (int i = 0; i < 4; ++i)
    c[i] = a[i] + b[i];
}

void sample_sum_wrong(void *const *buffers) {
  sample_sum(buffers);
  ((float *)buffers[2])[2] += 1;
}
