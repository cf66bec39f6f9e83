// The host side of the elementwise framework: one function makes the descriptor of any operator y = f(inputs...;
// parameters). What f computes is said by the operator's functor on the device side; an operator's .cc file adds names
// and parameters.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "elementwise/elementwise.h"
#include "runtime/src/descriptor.h"

namespace oprt {

// y first, then the inputs, which broadcast to its shape; one dtype for all.
template <int input_count>
elementwise_plan<input_count> plan_elementwise(const operand *const (&operands)[1 + input_count],
                                               std::initializer_list<double> parameters) {
    elementwise_plan<input_count> plan{};
    const operand &y = *operands[0];
    require_dtype(y, typename elementwise_plan<input_count>::dtypes{});
    operand repeated[1 + input_count] = {y};
    const operand *together[1 + input_count] = {&y};
    for (int i = 1; i <= input_count; ++i) {
        require_same_dtype(*operands[i], y);
        repeated[i] = broadcast(*operands[i], y);
        together[i] = &repeated[i];
    }
    plan.dtype = y.dtype;
    plan.elements = make_layout(together);
    std::copy(parameters.begin(), parameters.end(), plan.parameters);
    return plan;
}

// Plan is the operator's own type over elementwise_plan, such as relu_plan. At most max_elementwise_parameters
// parameters.
template <typename Plan, size_t count>
oprt_status_t create_elementwise_descriptor(const operator_definition &op, oprt_descriptor_t *descriptor,
                                            const tensor_argument (&tensors)[count],
                                            std::initializer_list<double> parameters) noexcept {
    return create_descriptor(op, descriptor, tensors, [&](const auto &...operands) {
        return Plan{plan_elementwise<static_cast<int>(count) - 1>({&operands...}, parameters)};
    });
}

}  // namespace oprt
