// Which instruction sets there are.

#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "specdec.h"

#if defined(__x86_64__)

#include <cpuid.h>

// Registers that the operating system saves: bits of XCR0.
#define WITH_AVX 0x06u
#define WITH_AVX512 0xe6u

static unsigned saved_registers(void) {
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// Whether the processor has AVX2 (with FMA and F16C), AVX-VNNI and AVX-512 VNNI (with F, DQ, BW and VL).
static void look(int *avx2, int *avx_vnni, int *avx512_vnni) {
    unsigned a, b, c, d;
    *avx2 = *avx_vnni = *avx512_vnni = 0;
    const unsigned fma = 1u << 12, osxsave = 1u << 27, avx = 1u << 28, f16c = 1u << 29, first = fma | osxsave | avx | f16c;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & first) != first) return;
    const unsigned saved = saved_registers();
    if ((saved & WITH_AVX) != WITH_AVX || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    *avx2 = b >> 5 & 1;
    const unsigned f = 1u << 16, dq = 1u << 17, bw = 1u << 30, vl = 1u << 31, wide = f | dq | bw | vl;
    *avx512_vnni = *avx2 && (b & wide) == wide && (c >> 11 & 1) && (saved & WITH_AVX512) == WITH_AVX512;
    *avx_vnni = *avx2 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

static int is_there(const struct kernels *kernels) {
    int avx2, avx_vnni, avx512_vnni;
    look(&avx2, &avx_vnni, &avx512_vnni);
#if defined(HAS_AVX_VNNI)
    if (kernels == &kernels_avx_vnni) return avx_vnni;
#endif
    return kernels == &kernels_avx512_vnni ? avx512_vnni : kernels == &kernels_avx2 ? avx2 : 1;
}

static const struct kernels *const known[] = {
    &kernels_avx512_vnni,
#if defined(HAS_AVX_VNNI)
    &kernels_avx_vnni,
#endif
    &kernels_avx2,
    &kernels_scalar,
};

#elif defined(__aarch64__)

#if defined(__linux__)
#include <sys/auxv.h>
#define DOT_PRODUCTS (1ul << 20) // HWCAP_ASIMDDP
static int has_dot_products(void) { return (getauxval(AT_HWCAP) & DOT_PRODUCTS) != 0; }
#elif defined(__APPLE__)
static int has_dot_products(void) { return 1; } // every Mac with such a processor
#else
static int has_dot_products(void) { return 0; }
#endif

static int is_there(const struct kernels *kernels) { return kernels != &kernels_neon || has_dot_products(); }

static const struct kernels *const known[] = {&kernels_neon, &kernels_scalar};

#else

static int is_there(const struct kernels *kernels) { return kernels != 0; }

static const struct kernels *const known[] = {&kernels_scalar};

#endif

#define KNOWN ((int)(sizeof known / sizeof *known))

const struct kernels *find_kernels(const char *name) {
    for (int i = 0; i < KNOWN; i++)
        if (is_there(known[i]) && (!name || !strcmp(name, known[i]->name))) return known[i];
    return 0;
}

const char *specdec_instruction_sets(void) {
    static _Thread_local char names[64];
    names[0] = 0;
    for (int i = 0; i < KNOWN; i++) {
        if (!is_there(known[i])) continue;
        if (names[0]) strcat(names, ",");
        strcat(names, known[i]->name);
    }
    return names;
}
