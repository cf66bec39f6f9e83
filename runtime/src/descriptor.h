// The life of a descriptor, the same for every operator: create, workspace size, execute, destroy. An operator's .cc
// file gives its definition and a function that checks shapes and makes the plan; everything else is here.
//
//   constexpr operator_definition copy{"copy", OPRT_PLAN_HASH, 1, true};
//   copy_plan plan_copy(const operand &y, const operand &x);
//   create_descriptor(copy, descriptor, {{"y", y}, {"x", x}}, plan_copy);
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

#include "backends/module.h"
#include "runtime/src/status.h"
#include "runtime/src/tensor.h"

namespace oprt {

// One object an operator; its address tells operators apart.
struct operator_definition {
    const char *name;
    const char *plan_hash;  // a launcher compiled with another plan is refused
    int32_t output_count;   // operands come outputs first
    bool in_place;          // an output may be the very same view as an input
};

struct tensor_argument {
    const char *name;
    const oprt_tensor_t *tensor;
};

// What a descriptor is made of, before it has a device and a launcher.
struct descriptor_draft {
    operand operands[max_operands];
    int32_t operand_count = 0;
    std::shared_ptr<const void> plan;
    size_t workspace_size_bytes = 0;
};

// The tensors, each checked alone; outputs have distinct elements.
descriptor_draft check_tensors(const operator_definition &op, const tensor_argument *tensors, int32_t count);

// Bind the draft to the calling thread's device, technique and launch overlap.
oprt_descriptor_t add_descriptor(const operator_definition &op, const descriptor_draft &draft);

template <typename MakePlan, size_t... index>
auto plan_of_draft(const MakePlan &make_plan, const descriptor_draft &draft, std::index_sequence<index...>) {
    return make_plan(draft.operands[index]...);
}

inline constexpr auto no_workspace = [](const auto &) -> size_t { return 0; };

// make_plan(const operand &...), one operand a tensor, checks the operands against each other and returns the plan.
// workspace_size_bytes(plan): see operators/<op>/<op>.h.
template <size_t count, typename MakePlan, typename WorkspaceSize = decltype(no_workspace)>
oprt_status_t create_descriptor(const operator_definition &op, oprt_descriptor_t *descriptor,
                                const tensor_argument (&tensors)[count], const MakePlan &make_plan,
                                const WorkspaceSize &workspace_size_bytes = no_workspace) noexcept {
    static_assert(count <= max_operands);
    return guarded([&] {
        begin_output(op.name, "descriptor", descriptor);
        descriptor_draft draft = check_tensors(op, tensors, count);
        const auto plan = plan_of_draft(make_plan, draft, std::make_index_sequence<count>());
        draft.workspace_size_bytes = workspace_size_bytes(plan);
        draft.plan = std::make_shared<const std::decay_t<decltype(plan)>>(plan);
        *descriptor = add_descriptor(op, draft);
    });
}

oprt_status_t get_workspace_size(const operator_definition &op, oprt_descriptor_t descriptor,
                                 size_t *size_bytes) noexcept;

struct workspace_argument {
    void *pointer;
    size_t size_bytes;
};

// pointers: outputs, then inputs, in the order of the tensors at create.
oprt_status_t execute_descriptor(const operator_definition &op, oprt_descriptor_t descriptor,
                                 workspace_argument workspace, std::initializer_list<const void *> pointers,
                                 oprt_stream_t stream) noexcept;

oprt_status_t destroy_descriptor(const operator_definition &op, oprt_descriptor_t descriptor) noexcept;

}  // namespace oprt
