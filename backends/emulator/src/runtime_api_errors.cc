// Errors of the runtime interface: the calling thread's last error, names and texts, and the fault that a kernel leaves
// behind.
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "runtime_api_state.h"

namespace oprt_emulator::runtime {
namespace {

struct error_entry {
    int code;
    const char *name;
    const char *text;
};

constexpr error_entry errors[] = {
#define OPRT_EMULATOR_ENTRY(name, number, text) {number, #name, text},
    OPRT_EMULATOR_ERRORS(OPRT_EMULATOR_ENTRY)
#undef OPRT_EMULATOR_ENTRY
};

const error_entry *find_entry(int code) {
    for (const error_entry &entry : errors) {
        if (entry.code == code) return &entry;
    }
    return nullptr;
}

// The last failure of a thread. The text is kept when the error is taken, for callers that ask for it afterwards.
struct last_failure {
    int code = Success;
    int detail_code = Success;
    std::string detail;
};

last_failure &of_this_thread() {
    thread_local last_failure failure;
    return failure;
}

// The fault. code is written last, so a reader that sees it sees the text.
struct fault_state {
    std::atomic<int> code{Success};
    std::atomic<bool> seen{false};
    std::mutex mutex;
    std::deque<std::string> texts;  // never shrinks: error_text hands out pointers
};

fault_state &fault() {
    static auto *made = new fault_state;
    return *made;
}

int vendor_code(fault_code code) {
    switch (code) {
        case fault_code::none: return Success;
        case fault_code::illegal_address:
        case fault_code::memory_corruption: return ErrorIllegalAddress;
        case fault_code::misaligned_address: return ErrorMisalignedAddress;
        case fault_code::illegal_instruction: return ErrorIllegalInstruction;
        case fault_code::device_assert: return ErrorAssert;
        case fault_code::stack_overflow: return ErrorHardwareStackError;
        case fault_code::deadlock:
        case fault_code::time_limit: return ErrorLaunchTimeout;
        case fault_code::arithmetic:
        case fault_code::trap:
        case fault_code::aborted:
        case fault_code::barrier_divergence:
        case fault_code::warp_misuse:
        case fault_code::invalid_configuration:
        case fault_code::out_of_memory:
        case fault_code::not_supported: break;
    }
    return ErrorLaunchFailure;
}

}  // namespace

int fail(int code, const char *detail) {
    last_failure &failure = of_this_thread();
    if (code != ErrorNotReady) failure.code = code;  // an answer and no error: it is not kept
    failure.detail_code = Success;
    if (detail != nullptr && *detail != '\0') {
        const error_entry *entry = find_entry(code);
        failure.detail = std::string(entry == nullptr ? "error" : entry->text) + ": " + detail;
        failure.detail_code = code;
    }
    return code;
}

int take_last_error() {
    const int seen = peek_last_error();
    of_this_thread().code = Success;
    return seen;
}

// Not the fault itself, which every other call goes on to report: on a device too it is taken like any other error.
int peek_last_error() { return of_this_thread().code; }

const char *error_name(int code, const char *prefix) {
    const error_entry *entry = find_entry(code);
    if (entry == nullptr) return "unrecognized error code";
    // Made when it is first asked for and kept, because callers keep the pointer.
    static auto *mutex = new std::mutex;
    static auto *names = new std::map<std::pair<std::string, int>, std::string>;
    std::lock_guard<std::mutex> lock(*mutex);
    return names->try_emplace({prefix, code}, std::string(prefix) + entry->name).first->second.c_str();
}

const char *error_text(int code) {
    const last_failure &failure = of_this_thread();
    if (code != Success && failure.detail_code == code) return failure.detail.c_str();
    if (code != Success && fault().code.load(std::memory_order_acquire) == code) {
        std::lock_guard<std::mutex> lock(fault().mutex);
        if (!fault().texts.empty()) return fault().texts.back().c_str();
    }
    const error_entry *entry = find_entry(code);
    return entry == nullptr ? "unrecognized error code" : entry->text;
}

void set_fault(fault_code code, std::string report) {
    std::lock_guard<std::mutex> lock(fault().mutex);
    if (fault().code.load(std::memory_order_relaxed) != Success) return;  // the first one explains the others
    const int number = vendor_code(code);
    fault().texts.push_back(std::string(find_entry(number)->text) + "\n" + report);
    fault().code.store(number, std::memory_order_release);
}

bool is_broken() { return fault().code.load(std::memory_order_acquire) != Success; }

int guard() {
    if (!fault().seen.load(std::memory_order_acquire)) return Success;
    return fail(fault().code.load(std::memory_order_acquire));
}

int seen_fault() {
    const int code = fault().code.load(std::memory_order_acquire);
    if (code == Success) return Success;
    fault().seen.store(true, std::memory_order_release);
    return fail(code);
}

void forget_fault() {
    std::lock_guard<std::mutex> lock(fault().mutex);
    fault().seen.store(false, std::memory_order_release);
    fault().code.store(Success, std::memory_order_release);
    of_this_thread() = last_failure();
}

}  // namespace oprt_emulator::runtime
