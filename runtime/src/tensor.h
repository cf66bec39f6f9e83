// Operands: the checks that every operator makes on an oprt_tensor_t, and canonical layouts made of checked operands.
// Each check throws a failure that names operator, operand, what came and what was wanted. What shapes an operator
// wants is said in operators/<op>/<op>.cc; pointers are checked by execute (descriptor.h).
#pragma once

#include <cstdint>
#include <string>

#include "operator_runtime/types.h"
#include "runtime/src/names.h"
#include "shared/layout.h"

namespace oprt {

inline constexpr int32_t max_operands = 8;  // of one operator, outputs included

// A tensor whose rank, extents, strides and sizes are in range.
struct operand {
    const char *op;    // name of the operator
    const char *name;  // name of the argument, such as "y"
    oprt_dtype_t dtype;
    int32_t ndim;
    int64_t shape[OPRT_MAX_DIMS];
    int64_t strides[OPRT_MAX_DIMS];  // in elements, any sign
    int64_t elements;
    // Bytes that the elements cover, relative to the pointer to element [0, ..., 0]; both 0 when empty.
    int64_t begin_byte;  // 0 or below
    int64_t end_byte;
};

operand check_tensor(const char *op, const char *name, const oprt_tensor_t *tensor);

// Refuse an output in which two indices may name one element. Strides sorted by size prove that they do not; what is
// not proved so is refused, interleaved views that happen to be disjoint included.
void require_distinct_elements(const operand &output);

void require_same_dtype(const operand &got, const operand &wanted);
void require_same_shape(const operand &got, const operand &wanted);

// The dimension that axis names: 0 to ndim - 1.
int32_t require_axis(const char *op, int32_t axis, int32_t ndim);

// x repeated to the shape of y as NumPy does: stride 0 along repeated dimensions.
operand broadcast(const operand &x, const operand &y);

// Whether both, given the same pointer, name the same element at every index. Leading extents of 1 do not matter.
bool is_same_view(const operand &a, const operand &b);

bool has_shape_of(const operand &a, const operand &b);

std::string shape_text(const operand &shown);    // "[4, 8]"
std::string strides_text(const operand &shown);  // "[8, 1]"

void refuse_dtype(const operand &got, const char *const *wanted, int32_t count);

// dtypes is the list of the operator's plan, such as softmax_plan::dtypes.
template <oprt_dtype_t... dtypes>
void require_dtype(const operand &got, dtype_list<dtypes...>) {
    if ((... || (got.dtype == dtypes))) return;
    const char *const wanted[] = {dtype_name(dtypes)...};
    refuse_dtype(got, wanted, sizeof...(dtypes));
}

// One bit a dimension: which of them a layout takes.
using dimension_set = uint32_t;
inline constexpr dimension_set all_dimensions = ~dimension_set{0};
constexpr dimension_set dimension(int32_t d) { return dimension_set{1} << d; }

// Dimensions that several operands share, before they become a layout.
struct dimension_list {
    struct member {
        int64_t extent;
        int64_t strides[max_operands];
    };
    int32_t operand_count;
    int32_t ndim;
    member dimensions[OPRT_MAX_DIMS];
};

// The chosen dimensions of operands of one rank, in canonical form (see shared/layout.h). Extents are those of the
// first operand.
dimension_list canonical_dimensions(const operand *const *operands, int32_t operand_count, dimension_set chosen);

template <int operand_count>
layout<operand_count> make_layout(const operand *const (&operands)[operand_count],
                                  dimension_set chosen = all_dimensions) {
    static_assert(operand_count <= max_operands);
    const dimension_list list = canonical_dimensions(operands, operand_count, chosen);
    layout<operand_count> made{};
    made.elements = 1;
    made.ndim = list.ndim;
    made.dense = list.ndim <= 1;
    for (int32_t d = 0; d < list.ndim; ++d) {
        made.shape[d] = list.dimensions[d].extent;
        made.elements *= made.shape[d];
        for (int32_t i = 0; i < operand_count; ++i) {
            made.strides[i][d] = list.dimensions[d].strides[i];
            if (made.strides[i][d] != 1) made.dense = 0;
        }
    }
    return made;
}

}  // namespace oprt
