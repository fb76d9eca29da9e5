// The kernels in plain C.

#define ISA_NAME "scalar"
#define KERNELS kernels_scalar

#include "kernels.inc"
