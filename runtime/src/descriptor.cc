// Descriptors: made once with a device and a launcher, then executed by any thread. execute takes no lock and asks the
// vendor nothing beyond a first look at a pointer (ownership.h), allocates nothing and waits for nothing; it checks the handle before anything
// else and every pointer before the launch.
#include "runtime/src/descriptor.h"

#include "runtime/src/handle_table.h"
#include "runtime/src/launchers.h"
#include "runtime/src/ownership.h"
#include "runtime/src/selection.h"

namespace oprt {
namespace {

constexpr uintptr_t workspace_alignment = 256;
constexpr uint8_t descriptor_sort = 0xD5;

// What execute has to know about one operand.
struct operand_memory {
    const char *name;
    int64_t begin_byte;  // relative to the pointer
    int64_t end_byte;    // equal to begin_byte: empty
    uintptr_t alignment;
    uint32_t same_view_as;  // bit i: output i, at the same pointer, is the very same view and may be it

    bool is_empty() const { return begin_byte == end_byte; }
};

struct descriptor {
    const operator_definition *op;
    device_binding device;
    launcher_function launch;
    bool overlap;
    std::shared_ptr<const void> plan;
    size_t workspace_size_bytes;
    bool launches;  // false when every output is empty
    int32_t operand_count;
    operand_memory operands[max_operands];
};

using descriptor_table = handle_table<descriptor>;

// Lives as long as the process, so that finalisers may still destroy what they hold.
descriptor_table &descriptors() {
    static descriptor_table &table = *new descriptor_table(descriptor_sort);
    return table;
}

descriptor_table::hold hold_descriptor(const operator_definition &op, oprt_descriptor_t handle) {
    auto held = descriptors().acquire(reinterpret_cast<uintptr_t>(handle));
    if (!held)
        fail(OPRT_ERR_INVALID_HANDLE, "%s: %p is no living descriptor: null, destroyed or never made", op.name,
             static_cast<void *>(handle));
    if (held->op != &op) fail(OPRT_ERR_INVALID_HANDLE, "%s: the descriptor belongs to %s", op.name, held->op->name);
    return held;
}

operand_memory memory_of(const operator_definition &op, const descriptor_draft &draft, int32_t index) {
    const operand &described = draft.operands[index];
    operand_memory memory{described.name, described.begin_byte, described.end_byte,
                          static_cast<uintptr_t>(dtype_size_bytes(described.dtype)), 0};
    const bool is_input = index >= op.output_count;
    for (int32_t output = 0; output < op.output_count && is_input && op.in_place; ++output) {
        if (is_same_view(described, draft.operands[output])) memory.same_view_as |= uint32_t{1} << output;
    }
    return memory;
}

// Bytes of memory that one execute touches; both 0 when none.
struct byte_range {
    uintptr_t begin = 0;
    uintptr_t end = 0;

    bool overlaps(const byte_range &other) const { return begin < other.end && other.begin < end; }
};

// Bytes [pointer + begin_byte, pointer + end_byte), refused where they cannot be memory that the descriptor's device
// may use.
byte_range checked_range(const descriptor &held, const char *name, const void *pointer, uintptr_t alignment,
                         int64_t begin_byte, int64_t end_byte) {
    const char *op = held.op->name;
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    if (address % alignment != 0) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s (%p) is not aligned to %zu bytes", op, name, pointer,
             size_t{alignment});
    }
    const byte_range range{address + static_cast<uintptr_t>(begin_byte), address + static_cast<uintptr_t>(end_byte)};
    if (range.begin > address || range.end < address) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s (%p) leaves the address space", op, name, pointer);
    }
    require_memory_of(held.device, op, name, pointer, range.begin, range.end);
    return range;
}

byte_range range_of(const descriptor &held, const operand_memory &operand, const void *pointer) {
    if (operand.is_empty()) return {};
    if (pointer == nullptr) {
        fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s is null, which only an empty tensor may be", held.op->name,
             operand.name);
    }
    return checked_range(held, operand.name, pointer, operand.alignment, operand.begin_byte, operand.end_byte);
}

byte_range range_of_workspace(const descriptor &held, workspace_argument workspace) {
    const size_t wanted = held.workspace_size_bytes;
    if (wanted == 0) return {};
    if (workspace.pointer == nullptr || workspace.size_bytes < wanted) {
        fail(OPRT_ERR_INSUFFICIENT_WORKSPACE, "%s: workspace %s %zu bytes, wanted %zu", held.op->name,
             workspace.pointer == nullptr ? "is null with" : "has", workspace.size_bytes, wanted);
    }
    return checked_range(held, "workspace", workspace.pointer, workspace_alignment, 0, static_cast<int64_t>(wanted));
}

// Operand i and output o (o < i), both not empty, must be disjoint or the very same view.
void require_disjoint(const descriptor &held, const byte_range *ranges, const void *const *pointers, int32_t i,
                      int32_t o) {
    if (!ranges[i].overlaps(ranges[o])) return;
    const bool may_be_same = (held.operands[i].same_view_as >> o & 1) != 0;
    if (may_be_same && pointers[i] == pointers[o]) return;
    const char *allowed = may_be_same ? "; only the very same view is allowed" : "";
    fail(OPRT_ERR_INVALID_ARGUMENT, "%s: %s overlaps %s%s", held.op->name, held.operands[o].name, held.operands[i].name,
         allowed);
}

void check_memory(const descriptor &held, workspace_argument workspace, const void *const *pointers) {
    byte_range ranges[max_operands];
    for (int32_t i = 0; i < held.operand_count; ++i) {
        ranges[i] = range_of(held, held.operands[i], pointers[i]);
        for (int32_t o = 0; o < held.op->output_count && o < i; ++o) require_disjoint(held, ranges, pointers, i, o);
    }
    const byte_range scratch = range_of_workspace(held, workspace);
    for (int32_t i = 0; i < held.operand_count; ++i) {
        if (scratch.overlaps(ranges[i])) {
            fail(OPRT_ERR_INVALID_ARGUMENT, "%s: workspace overlaps %s", held.op->name, held.operands[i].name);
        }
    }
}

void launch(const descriptor &held, void *workspace, const void *const *pointers, oprt_stream_t stream) {
    void *values[max_operands];
    for (int32_t i = 0; i < held.operand_count; ++i) values[i] = const_cast<void *>(pointers[i]);
    const operands given{values, held.workspace_size_bytes == 0 ? nullptr : workspace, held.overlap};
    module_message message;
    message.text[0] = '\0';
    require_success(held.device.module->table->set_device(held.device.index, message), held.op->name, message);
    require_success(held.launch(held.plan.get(), given, stream, message), held.op->name, message);
}

}  // namespace

descriptor_draft check_tensors(const operator_definition &op, const tensor_argument *tensors, int32_t count) {
    descriptor_draft draft;
    draft.operand_count = count;
    for (int32_t i = 0; i < count; ++i) {
        draft.operands[i] = check_tensor(op.name, tensors[i].name, tensors[i].tensor);
        if (i < op.output_count) require_distinct_elements(draft.operands[i]);
    }
    return draft;
}

oprt_descriptor_t add_descriptor(const operator_definition &op, const descriptor_draft &draft) {
    auto made = std::make_unique<descriptor>();
    made->op = &op;
    made->device = current_device();
    made->launch = find_launcher(*made->device.module, op.name, current_technique(), op.plan_hash);
    made->overlap = current_launch_overlap();
    made->plan = draft.plan;
    made->workspace_size_bytes = draft.workspace_size_bytes;
    made->operand_count = draft.operand_count;
    made->launches = false;
    for (int32_t i = 0; i < draft.operand_count; ++i) {
        made->operands[i] = memory_of(op, draft, i);
        if (i < op.output_count && !made->operands[i].is_empty()) made->launches = true;
    }
    return reinterpret_cast<oprt_descriptor_t>(descriptors().add(std::move(made)));
}

oprt_status_t get_workspace_size(const operator_definition &op, oprt_descriptor_t descriptor,
                                 size_t *size_bytes) noexcept {
    return guarded([&] {
        begin_output(op.name, "size_bytes", size_bytes);
        *size_bytes = hold_descriptor(op, descriptor)->workspace_size_bytes;
    });
}

oprt_status_t execute_descriptor(const operator_definition &op, oprt_descriptor_t descriptor,
                                 workspace_argument workspace, std::initializer_list<const void *> pointers,
                                 oprt_stream_t stream) noexcept {
    return guarded([&] {
        const auto held = hold_descriptor(op, descriptor);
        if (pointers.size() != static_cast<size_t>(held->operand_count)) {
            fail(OPRT_ERR_RUNTIME, "%s: %zu pointers for %d tensors", op.name, pointers.size(), held->operand_count);
        }
        check_memory(*held, workspace, pointers.begin());
        require_stream_of(held->device, op.name, stream);
        if (held->launches) launch(*held, workspace.pointer, pointers.begin(), stream);
    });
}

oprt_status_t destroy_descriptor(const operator_definition &op, oprt_descriptor_t descriptor) noexcept {
    return guarded([&] {
        if (descriptor == nullptr) return;
        const auto held = hold_descriptor(op, descriptor);
        if (!descriptors().retire(held, reinterpret_cast<uintptr_t>(descriptor))) {
            fail(OPRT_ERR_INVALID_HANDLE, "%s: the descriptor was destroyed by another thread", op.name);
        }
    });
}

}  // namespace oprt
