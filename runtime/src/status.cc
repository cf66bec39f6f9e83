// The calling thread's last message, and the one place where exceptions become statuses.
#include "runtime/src/status.h"

#include <cstdarg>
#include <cstdio>
#include <new>

#include "operator_runtime/device.h"

namespace oprt {
namespace {

// A fixed buffer, so that reporting exhausted memory needs none. Longer messages are cut.
thread_local char last_error_message[16 * 1024];

oprt_status_t report(oprt_status_t status, const char *message) noexcept {
    std::snprintf(last_error_message, sizeof last_error_message, "%s", message);
    return status;
}

std::string formatted_list(const char *format, va_list values) {
    va_list again;
    va_copy(again, values);
    const int length = std::vsnprintf(nullptr, 0, format, values);
    std::string text(length < 0 ? 0 : static_cast<size_t>(length), '\0');
    std::vsnprintf(text.data(), text.size() + 1, format, again);
    va_end(again);
    return text;
}

}  // namespace

std::string formatted(const char *format, ...) {
    va_list values;
    va_start(values, format);
    std::string text = formatted_list(format, values);
    va_end(values);
    return text;
}

void fail(oprt_status_t status, const char *format, ...) {
    va_list values;
    va_start(values, format);
    failure thrown{status, formatted_list(format, values)};
    va_end(values);
    throw thrown;
}

oprt_status_t report_current_exception() noexcept {
    try {
        throw;
    } catch (const failure &caught) {
        return report(caught.status, caught.message.c_str());
    } catch (const std::bad_alloc &) {
        return report(OPRT_ERR_OUT_OF_MEMORY, "host memory is exhausted");
    } catch (const std::exception &caught) {
        return report(OPRT_ERR_RUNTIME, caught.what());
    } catch (...) {
        return report(OPRT_ERR_RUNTIME, "an exception of unknown type");
    }
}

}  // namespace oprt

extern "C" const char *oprt_last_error_message(void) { return oprt::last_error_message; }
