// Names of the public enumerations' values. A value from outside is read with raw_value first: it may be no enumerator.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "operator_runtime/types.h"

namespace oprt {

// The number behind an enumeration's value, without reading it as the enumeration.
template <typename Enumeration>
int32_t raw_value(const Enumeration &value) {
    static_assert(sizeof(Enumeration) == sizeof(int32_t));
    int32_t raw;
    std::memcpy(&raw, &value, sizeof raw);
    return raw;
}

inline constexpr int32_t backend_count = 3;  // AUTO included
inline constexpr int32_t device_kind_count = 3;
inline constexpr int32_t dtype_count = 9;

inline constexpr oprt_backend_t known_backends[] = {OPRT_BACKEND_NVIDIA, OPRT_BACKEND_METAX};  // in the order of AUTO

// These take only values that exist.
const char *backend_name(oprt_backend_t backend) noexcept;
const char *device_kind_name(oprt_device_kind_t kind) noexcept;
const char *dtype_name(oprt_dtype_t dtype) noexcept;

bool is_backend(int32_t value) noexcept;
bool is_device_kind(int32_t value) noexcept;
bool is_dtype(int32_t value) noexcept;

std::string known_backends_text();      // "0 (auto), 1 (nvidia) or 2 (metax)"
std::string known_device_kinds_text();  // "0 (auto), 1 (emulator) or 2 (gpu)"

// "float16, bfloat16 or float32"
std::string joined_with_or(const char *const *names, int32_t count);

}  // namespace oprt
