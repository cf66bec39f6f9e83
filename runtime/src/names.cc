// Names of statuses, dtypes, backends and device kinds, each written once; element sizes come from shared/layout.h.
#include "runtime/src/names.h"

#include <iterator>

#include "operator_runtime/device.h"
#include "runtime/src/status.h"
#include "shared/layout.h"

namespace oprt {
namespace {

constexpr const char *status_names[] = {
    "OPRT_SUCCESS",
    "OPRT_ERR_INVALID_ARGUMENT",
    "OPRT_ERR_INVALID_HANDLE",
    "OPRT_ERR_UNSUPPORTED_DTYPE",
    "OPRT_ERR_NOT_SUPPORTED",
    "OPRT_ERR_INSUFFICIENT_WORKSPACE",
    "OPRT_ERR_OUT_OF_MEMORY",
    "OPRT_ERR_BACKEND_UNAVAILABLE",
    "OPRT_ERR_DEVICE_UNAVAILABLE",
    "OPRT_ERR_LAUNCH_FAILED",
    "OPRT_ERR_KERNEL_FAULT",
    "OPRT_ERR_NOT_READY",
    "OPRT_ERR_RUNTIME",
};
constexpr const char *backend_names[] = {"auto", "nvidia", "metax"};
constexpr const char *device_kind_names[] = {"auto", "emulator", "gpu"};
constexpr const char *dtype_names[] = {"float16", "bfloat16", "float32", "float64", "bits8",
                                       "bits16",  "bits32",   "bits64",  "bits128"};

// Each table is indexed by value: it must reach as far as the enumeration.
static_assert(std::size(status_names) == OPRT_ERR_RUNTIME + 1);
static_assert(std::size(backend_names) == backend_count && OPRT_BACKEND_METAX == backend_count - 1);
static_assert(std::size(device_kind_names) == device_kind_count && OPRT_DEVICE_GPU == device_kind_count - 1);
static_assert(std::size(dtype_names) == dtype_count && OPRT_DTYPE_BITS128 == dtype_count - 1);

// "0 (auto), 1 (nvidia) or 2 (metax)"
template <size_t count>
std::string values_text(const char *const (&names)[count]) {
    std::string text;
    for (size_t value = 0; value < count; ++value) {
        if (value > 0) text += value + 1 < count ? ", " : " or ";
        text += std::to_string(value) + " (" + names[value] + ")";
    }
    return text;
}

constexpr bool within(int32_t value, size_t count) { return value >= 0 && static_cast<size_t>(value) < count; }

}  // namespace

const char *backend_name(oprt_backend_t backend) noexcept { return backend_names[backend]; }
const char *device_kind_name(oprt_device_kind_t kind) noexcept { return device_kind_names[kind]; }
const char *dtype_name(oprt_dtype_t dtype) noexcept { return dtype_names[dtype]; }

bool is_backend(int32_t value) noexcept { return within(value, backend_count); }
bool is_device_kind(int32_t value) noexcept { return within(value, device_kind_count); }
bool is_dtype(int32_t value) noexcept { return within(value, dtype_count); }

std::string known_backends_text() { return values_text(backend_names); }
std::string known_device_kinds_text() { return values_text(device_kind_names); }

std::string joined_with_or(const char *const *names, int32_t count) {
    std::string text;
    for (int32_t i = 0; i < count; ++i) {
        if (i > 0) text += i + 1 < count ? ", " : " or ";
        text += names[i];
    }
    return text;
}

}  // namespace oprt

using namespace oprt;  // the C functions stand outside it

extern "C" const char *oprt_status_name(oprt_status_t status) {
    const int32_t value = raw_value(status);
    return within(value, std::size(status_names)) ? status_names[value] : "OPRT_STATUS_UNKNOWN";
}

extern "C" const char *oprt_backend_name(oprt_backend_t backend) {
    return is_backend(raw_value(backend)) ? backend_name(backend) : "unknown";
}

extern "C" const char *oprt_dtype_name(oprt_dtype_t dtype) {
    return is_dtype(raw_value(dtype)) ? dtype_name(dtype) : "unknown";
}

extern "C" oprt_status_t oprt_dtype_size(size_t *size_bytes, oprt_dtype_t dtype) {
    return guarded([&] {
        begin_output("oprt_dtype_size", "size_bytes", size_bytes);
        const int32_t value = raw_value(dtype);
        if (!is_dtype(value)) fail(OPRT_ERR_UNSUPPORTED_DTYPE, "oprt_dtype_size: unknown dtype %d", value);
        *size_bytes = static_cast<size_t>(dtype_size_bytes(dtype));
    });
}
