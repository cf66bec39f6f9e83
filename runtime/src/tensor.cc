// Checks on tensors, and the reduction of operands to canonical dimensions.
#include "runtime/src/tensor.h"

#include <algorithm>

#include "runtime/src/status.h"

namespace oprt {
namespace {

std::string list_text(int32_t count, const int64_t *values) {
    std::string text = "[";
    for (int32_t i = 0; i < count; ++i) {
        if (i > 0) text += ", ";
        text += std::to_string(values[i]);
    }
    return text + "]";
}

// Set shape, strides and the number of elements; the product is taken over the non-zero extents, so that [2^62, 0, 4]
// is refused too.
void take_shape(operand &checked, const oprt_tensor_t &tensor) {
    int64_t product = 1;
    bool fits = true;
    bool empty = false;
    for (int32_t d = 0; d < checked.ndim; ++d) {
        const int64_t extent = tensor.shape[d];
        checked.shape[d] = extent;
        checked.strides[d] = tensor.strides[d];
        if (extent < 0) {
            fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s has extent %lld in dimension %d, wanted 0 or more", checked.op,
                 checked.name, static_cast<long long>(extent), d);
        }
        if (extent == 0) empty = true;
        if (extent != 0 && __builtin_mul_overflow(product, extent, &product)) fits = false;
    }
    if (!fits) {
        fail(OPRT_ERR_INVALID_ARGUMENT,
             "%s: %s has shape %s: the product of the non-zero extents does not fit in 63 bits", checked.op,
             checked.name, shape_text(checked).c_str());
    }
    checked.elements = empty ? 0 : product;
}

// Set the bytes that the elements cover; false when a distance between two of them does not fit in 63 bits.
bool take_byte_extent(operand &checked) {
    checked.begin_byte = 0;
    checked.end_byte = 0;
    if (checked.elements == 0) return true;
    const int64_t size_bytes = dtype_size_bytes(checked.dtype);
    checked.end_byte = size_bytes;
    for (int32_t d = 0; d < checked.ndim; ++d) {
        int64_t reach;  // from the first to the last element of this dimension
        if (__builtin_mul_overflow(checked.shape[d] - 1, checked.strides[d], &reach)) return false;
        if (__builtin_mul_overflow(reach, size_bytes, &reach)) return false;
        int64_t &side = reach < 0 ? checked.begin_byte : checked.end_byte;
        if (__builtin_add_overflow(side, reach, &side)) return false;
    }
    int64_t length;
    return !__builtin_sub_overflow(checked.end_byte, checked.begin_byte, &length);
}

// Extent and stride counted from the last dimension; dimensions that are not there have extent 1.
int64_t extent_from_last(const operand &a, int32_t d) { return d < a.ndim ? a.shape[a.ndim - 1 - d] : 1; }
int64_t stride_from_last(const operand &a, int32_t d) { return d < a.ndim ? a.strides[a.ndim - 1 - d] : 0; }

// The size of a step; any value of an empty tensor's strides is legal.
uint64_t magnitude(int64_t step) { return step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step); }

// A stable sort that needs no memory: there are at most OPRT_MAX_DIMS values.
template <typename T, typename Before>
void sort_few(T *values, int32_t count, Before before) {
    for (T *next = values; next != values + count; ++next) {
        std::rotate(std::upper_bound(values, next, *next, before), next, next + 1);
    }
}

using member = dimension_list::member;

// Whether outer and inner can be walked as one dimension by every operand.
bool can_merge(const member &outer, const member &inner, int32_t operand_count) {
    for (int32_t i = 0; i < operand_count; ++i) {
        int64_t whole;
        if (__builtin_mul_overflow(inner.strides[i], inner.extent, &whole) || outer.strides[i] != whole) return false;
    }
    return true;
}

void merge_neighbours(dimension_list &list) {
    int32_t kept = 0;
    for (int32_t d = 1; d < list.ndim; ++d) {
        member &outer = list.dimensions[kept];
        const member &inner = list.dimensions[d];
        if (can_merge(outer, inner, list.operand_count)) {
            const int64_t extent = outer.extent * inner.extent;
            outer = inner;
            outer.extent = extent;
        } else {
            list.dimensions[++kept] = inner;
        }
    }
    if (list.ndim > 0) list.ndim = kept + 1;
}

dimension_list empty_dimensions(int32_t operand_count) {
    dimension_list list{};
    list.operand_count = operand_count;
    list.ndim = 1;
    for (int32_t i = 0; i < operand_count; ++i) list.dimensions[0].strides[i] = 1;
    return list;
}

}  // namespace

std::string shape_text(const operand &shown) { return list_text(shown.ndim, shown.shape); }
std::string strides_text(const operand &shown) { return list_text(shown.ndim, shown.strides); }

bool has_shape_of(const operand &a, const operand &b) {
    return a.ndim == b.ndim && std::equal(a.shape, a.shape + a.ndim, b.shape);
}

operand check_tensor(const char *op, const char *name, const oprt_tensor_t *tensor) {
    if (tensor == nullptr) fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s is null, wanted a tensor", op, name);
    if (tensor->struct_size != sizeof(oprt_tensor_t)) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s has struct_size %zu, wanted %zu", op, name, tensor->struct_size,
             sizeof(oprt_tensor_t));
    }
    if (const int32_t dtype = raw_value(tensor->dtype); !is_dtype(dtype)) {
        fail(OPRT_ERR_UNSUPPORTED_DTYPE, "%s: %s has unknown dtype %d", op, name, dtype);
    }
    if (tensor->ndim < 0 || tensor->ndim > OPRT_MAX_DIMS) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s has %d dimensions, wanted 0 to %d", op, name, tensor->ndim,
             OPRT_MAX_DIMS);
    }
    operand checked{op, name, tensor->dtype, tensor->ndim, {}, {}, 0, 0, 0};
    take_shape(checked, *tensor);
    if (!take_byte_extent(checked)) {
        fail(OPRT_ERR_INVALID_ARGUMENT,
             "%s: %s has shape %s and strides %s: its elements span more than 2^63 - 1 bytes", op, name,
             shape_text(checked).c_str(), strides_text(checked).c_str());
    }
    return checked;
}

void require_distinct_elements(const operand &output) {
    struct walk {
        uint64_t step;   // distance of neighbours
        uint64_t reach;  // distance of the first and the last element
    } walks[OPRT_MAX_DIMS];
    int32_t count = 0;
    for (int32_t d = 0; d < output.ndim && output.elements > 0; ++d) {
        if (output.shape[d] == 1) continue;
        const uint64_t step = magnitude(output.strides[d]);
        walks[count++] = {step, step * static_cast<uint64_t>(output.shape[d] - 1)};
    }
    sort_few(walks, count, [](const walk &a, const walk &b) { return a.step < b.step; });
    uint64_t reach = 0;  // of all shorter walks together; a longer step must leave it
    for (int32_t i = 0; i < count; ++i) {
        if (walks[i].step <= reach) {
            fail(OPRT_ERR_INVALID_ARGUMENT,
                 "%s: %s has shape %s and strides %s: its elements overlap or interleave, wanted distinct ones",
                 output.op, output.name, shape_text(output).c_str(), strides_text(output).c_str());
        }
        reach += walks[i].reach;
    }
}

void require_same_dtype(const operand &got, const operand &wanted) {
    if (got.dtype == wanted.dtype) return;
    fail(OPRT_ERR_UNSUPPORTED_DTYPE, "%s: %s has dtype %s, wanted %s as %s has", got.op, got.name,
         dtype_name(got.dtype), dtype_name(wanted.dtype), wanted.name);
}

void require_same_shape(const operand &got, const operand &wanted) {
    if (has_shape_of(got, wanted)) return;
    fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s has shape %s, wanted %s", got.op, got.name, shape_text(got).c_str(),
         shape_text(wanted).c_str());
}

int32_t require_axis(const char *op, int32_t axis, int32_t ndim) {
    if (ndim == 0) fail(OPRT_ERR_INVALID_ARGUMENT, "%s: axis %d is out of range: a scalar has no axis", op, axis);
    if (axis < -ndim || axis >= ndim) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: axis %d is out of range, wanted %d to %d for %d dimension%s", op, axis,
             -ndim, ndim - 1, ndim, ndim == 1 ? "" : "s");
    }
    return axis < 0 ? axis + ndim : axis;
}

void refuse_dtype(const operand &got, const char *const *wanted, int32_t count) {
    fail(OPRT_ERR_UNSUPPORTED_DTYPE, "%s: %s has dtype %s, wanted %s", got.op, got.name, dtype_name(got.dtype),
         joined_with_or(wanted, count).c_str());
}

operand broadcast(const operand &x, const operand &y) {
    operand repeated = x;
    repeated.ndim = y.ndim;
    repeated.elements = y.elements;
    bool fits = x.ndim <= y.ndim;
    for (int32_t d = 0; d < y.ndim; ++d) {
        const int32_t from_last = y.ndim - 1 - d;
        const int64_t extent = extent_from_last(x, from_last);
        fits = fits && (extent == y.shape[d] || extent == 1);
        repeated.shape[d] = y.shape[d];
        repeated.strides[d] = extent == y.shape[d] ? stride_from_last(x, from_last) : 0;
    }
    if (fits) return repeated;
    fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s has shape %s, which does not broadcast to %s of %s", x.op, x.name,
         shape_text(x).c_str(), shape_text(y).c_str(), y.name);
}

bool is_same_view(const operand &a, const operand &b) {
    if (dtype_size_bytes(a.dtype) != dtype_size_bytes(b.dtype)) return false;
    for (int32_t d = 0; d < std::max(a.ndim, b.ndim); ++d) {
        const int64_t extent = extent_from_last(a, d);
        if (extent != extent_from_last(b, d)) return false;
        if (extent > 1 && stride_from_last(a, d) != stride_from_last(b, d)) return false;
    }
    return true;
}

dimension_list canonical_dimensions(const operand *const *operands, int32_t operand_count, dimension_set chosen) {
    dimension_list list{};
    list.operand_count = operand_count;
    const operand &first = *operands[0];
    for (int32_t d = 0; d < first.ndim; ++d) {
        if ((chosen & dimension(d)) == 0 || first.shape[d] == 1) continue;
        if (first.shape[d] == 0) return empty_dimensions(operand_count);
        member &added = list.dimensions[list.ndim++];
        added.extent = first.shape[d];
        for (int32_t i = 0; i < operand_count; ++i) added.strides[i] = operands[i]->strides[d];
    }
    sort_few(list.dimensions, list.ndim, [operand_count](const member &a, const member &b) {
        for (int32_t i = 0; i < operand_count; ++i) {
            const uint64_t step_a = magnitude(a.strides[i]);
            const uint64_t step_b = magnitude(b.strides[i]);
            if (step_a != step_b) return step_a > step_b;
        }
        return false;
    });
    merge_neighbours(list);
    return list;
}

}  // namespace oprt
