// From mapped tensors to packed layers.

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model.h"
#include "sizes.h"

#define RELEASED ((int64_t)4096) // rows after which the pages that were read are given back

static void fail(struct reader *reader, int32_t status, int64_t tensor) {
    if (reader->status) return;
    reader->status = status;
    reader->damaged = tensor;
}

static void *allocate_values(struct reader *reader, int64_t count, int64_t size) {
    void *values = reader->status ? 0 : arena_allocate(reader->arena, count, size);
    if (!values) fail(reader, SPECDEC_NO_MEMORY, -1);
    return values;
}

// The next tensor, which must be of this shape; NULL after an error.
static const struct specdec_tensor *next_tensor(struct reader *reader, int64_t rows, int64_t columns) {
    if (reader->status) return 0;
    if (reader->next >= reader->count) {
        fail(reader, SPECDEC_BAD_TENSOR, reader->next);
        return 0;
    }
    const struct specdec_tensor *tensor = reader->tensors + reader->next++;
    const int known = tensor->type >= SPECDEC_TYPE_F32 && tensor->type <= SPECDEC_TYPE_I8, scaled = tensor->type == SPECDEC_TYPE_I8;
    if (!known || !tensor->data || tensor->rows != rows || tensor->columns != columns || (scaled && !tensor->scales)) {
        fail(reader, SPECDEC_BAD_TENSOR, reader->next - 1);
        return 0;
    }
    return tensor;
}

static const void *row_of(const struct specdec_tensor *tensor, int64_t row) {
    static const int64_t sizes[] = {4, 2, 2, 1};
    return (const char *)tensor->data + row * tensor->columns * sizes[tensor->type];
}

// Gives back the memory of the whole pages of a tensor's first rows.
static void release_rows(const struct specdec_tensor *tensor, int64_t rows) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)tensor->data;
    const uintptr_t first = (start + page - 1) / page * page, last = (uintptr_t)row_of(tensor, rows) / page * page;
    if (tensor->mapped && first < last) madvise((void *)first, last - first, MADV_DONTNEED);
}

// The same for all rows, and while they are read: so a large tensor is never in memory as a whole, beside what is made of it.
static void release(const struct specdec_tensor *tensor) { release_rows(tensor, tensor->rows); }

static void release_read(const struct specdec_tensor *tensor, int64_t rows) {
    if (rows % RELEASED == 0) release_rows(tensor, rows);
}

void widen_row(const struct kernels *kernels, const struct specdec_tensor *tensor, int64_t row, float *to) {
    kernels->widen(tensor->type, row_of(tensor, row), tensor->scales ? tensor->scales[row] : 0.0f, tensor->columns, to);
}

static int is_finite(const float *x, int64_t size) {
    for (int64_t i = 0; i < size; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

const float *read_table(struct reader *reader, int64_t rows, int64_t columns) {
    const struct specdec_tensor *tensor = next_tensor(reader, rows, columns);
    float *table = allocate_values(reader, product_of(rows, columns), sizeof(float));
    if (!tensor || !table) return 0;
    for (int64_t row = 0; row < rows; row++) {
        widen_row(reader->kernels, tensor, row, table + row * columns);
        if (!is_finite(table + row * columns, columns)) fail(reader, SPECDEC_NOT_FINITE, reader->next - 1);
    }
    release(tensor);
    return table;
}

const float *read_vector(struct reader *reader, int64_t size) {
    return read_table(reader, size, 1);
}

struct norm read_norm(struct reader *reader, int64_t width, int rms, float epsilon) {
    struct norm norm = {0, 0, epsilon};
    norm.gamma = read_vector(reader, width);
    if (!rms) norm.beta = read_vector(reader, width);
    return norm;
}

void read_embedding(struct reader *reader, int64_t rows, int64_t width, struct specdec_tensor *embedding) {
    const struct specdec_tensor *tensor = next_tensor(reader, rows, width);
    float *row = allocate_values(reader, width, sizeof(float));
    if (!tensor || !row) return;
    *embedding = *tensor;
    for (int64_t i = 0; i < rows; i++) {
        // Whole numbers are finite, and need not be read, if their scale is.
        if (tensor->type == SPECDEC_TYPE_I8 && isfinite(128.0f * tensor->scales[i])) continue;
        widen_row(reader->kernels, tensor, i, row);
        if (!is_finite(row, width)) fail(reader, SPECDEC_NOT_FINITE, reader->next - 1);
        release_read(tensor, i + 1);
    }
    release(tensor);
}

// Whole numbers of one output, to their places in a tile: [inputs / 4][TILE][4].
static void scatter(const int8_t *row, int64_t inputs, int8_t *tile, int64_t output) {
    for (int64_t i = 0; i < inputs; i += 4) memcpy(tile + i * TILE + output * 4, row + i, 4);
}

static int allocate(struct reader *reader, struct linear *linear) {
    const int64_t padded = product_of(linear->tiles, TILE);
    linear->weights = allocate_values(reader, product_of(padded, linear->inputs), 1);
    linear->scales = allocate_values(reader, padded, sizeof(float));
    linear->float_sums = allocate_values(reader, padded, sizeof(float));
    linear->bias = allocate_values(reader, padded, sizeof(float));
    linear->sums = allocate_values(reader, padded, sizeof(int32_t));
    return reader->status == SPECDEC_OK;
}

// The whole numbers of a row that are stored as such, and their scale, if they are those to which quantize_weights() would round what they
// stand for: the largest is 127. Else 0. The scale is calculated as there, since it may differ from the stored one in the last bit.
static const int8_t *stored_row(const struct specdec_tensor *tensor, int64_t row, float *scale) {
    if (tensor->type != SPECDEC_TYPE_I8) return 0;
    const int8_t *whole = row_of(tensor, row);
    int32_t most = 0;
    for (int64_t i = 0; i < tensor->columns; i++) {
        const int32_t size = whole[i] < 0 ? -whole[i] : whole[i];
        most = size > most ? size : most;
    }
    const float top = 127.0f * tensor->scales[row];
    *scale = top / 127.0f;
    return most == 127 && isfinite(top) && *scale > 1e-12f ? whole : 0;
}

void pack_linear(struct reader *reader, struct linear *linear, const struct specdec_tensor *weights, const float *bias, struct norm norm) {
    if (reader->status) return;
    linear->inputs = weights->columns;
    linear->outputs = weights->rows;
    linear->tiles = (weights->rows + TILE - 1) / TILE;
    linear->gamma = norm.gamma;
    linear->beta = norm.beta;
    linear->epsilon = norm.epsilon;
    linear->activated = linear->outputs;
    float *row = allocate_values(reader, linear->inputs, sizeof(float));
    int8_t *rounded = allocate_values(reader, linear->inputs, 1);
    if (!allocate(reader, linear)) return;
    for (int64_t i = 0; i < linear->outputs; i++) {
        const int8_t *whole = stored_row(weights, i, linear->scales + i);
        if (!whole) {
            widen_row(reader->kernels, weights, i, row);
            if (!reader->kernels->quantize_weights(row, linear->inputs, linear->scales + i, rounded)) {
                fail(reader, SPECDEC_NOT_FINITE, reader->next - 1);
                return;
            }
            whole = rounded;
        }
        int32_t sum = 0;
        for (int64_t k = 0; k < linear->inputs; k++) sum += whole[k];
        linear->sums[i] = sum;
        linear->float_sums[i] = (float)sum;
        if (bias) linear->bias[i] = bias[i];
        scatter(whole, linear->inputs, linear->weights + i / TILE * TILE * linear->inputs, i % TILE);
        release_read(weights, i + 1);
    }
    release(weights);
}

void read_linear(struct reader *reader, struct linear *linear, int64_t inputs, int64_t outputs, int bias, struct norm norm,
                 int32_t activation) {
    const struct specdec_tensor *weights = next_tensor(reader, outputs, inputs);
    if (!weights) return;
    pack_linear(reader, linear, weights, 0, norm);
    linear->activation = activation;
    const float *values = bias ? read_vector(reader, outputs) : 0;
    if (values && !reader->status) memcpy(linear->bias, values, (size_t)outputs * sizeof(float));
}
