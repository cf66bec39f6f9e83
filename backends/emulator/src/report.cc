// Fault reports: what happened, in which kernel, block and thread, at which source line, and how to play it again.
#include "report.h"

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "memory_checks.h"
#include "module_image.h"
#include "symbols.h"

namespace oprt_emulator {
namespace {

thread_local std::string last;

__attribute__((format(printf, 1, 2))) std::string formatted(const char *format, ...) {
    char text[2048];
    va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return text;
}

std::string kernel_name(const grid_request &request) {
    if (request.name != nullptr) return request.name;
    const auto address = reinterpret_cast<std::uintptr_t>(request.kernel_address);
    const code_symbol *symbol = own_image().function_at(address);
    return symbol != nullptr ? demangle(symbol->name) : formatted("at %p", request.kernel_address);
}

std::string text_of(const index3 &index) { return formatted("(%u, %u, %u)", index.x, index.y, index.z); }

const char *signal_name(int signal) {
    switch (signal) {
        case SIGSEGV: return "SIGSEGV";
        case SIGBUS: return "SIGBUS";
        case SIGFPE: return "SIGFPE";
        case SIGILL: return "SIGILL";
        case SIGTRAP: return "SIGTRAP";
        case SIGABRT: return "SIGABRT";
        default: return "signal";
    }
}

// What lies at an address that a kernel could not access.
std::string describe_address(const grid &running, const void *address) {
    const std::string device = describe_device_address(address);
    if (!device.empty()) return ": " + device;
    switch (place_of_address(address)) {
        case area_place::dynamic_shared_guard:
            return formatted(": past the end of the block's dynamic shared memory (%zu bytes)",
                             running.request->dynamic_shared_bytes);
        case area_place::stack:
        case area_place::stack_guard: return ": on the stack of a GPU thread";
        case area_place::state:
        case area_place::dynamic_shared:
        case area_place::not_an_area: break;
    }
    if (address == nullptr) return ": a null pointer";
    return reinterpret_cast<std::uintptr_t>(address) < 65536 ? ": a null pointer with an offset"
                                                             : ": not device memory";
}

std::string what_happened(const grid &running) {
    const fault_record &fault = running.fault;
    const char *name = signal_name(fault.signal);
    switch (fault.code) {
        case fault_code::stack_overflow:
            return formatted(
                "stack overflow: a GPU thread used more than its %zu KB of stack; is there an endless recursion or a "
                "large local array?",
                stack_size_bytes() / 1024);
        case fault_code::time_limit:
            return formatted(
                "time limit: the kernel still ran after %g s (CAMP_EMULATOR_TIME_LIMIT); is there an endless loop?",
                running.time_limit_s);
        default: break;
    }
    if (fault.signal == 0) return fault.text;
    switch (fault.code) {
        case fault_code::illegal_address:
            if (reinterpret_cast<std::uintptr_t>(fault.frames[0]) < 4096) {
                return formatted("illegal address: call of a null function pointer (%s)", name);
            }
            return formatted("illegal address: %s of 0x%zx (%s)", fault.text,
                             reinterpret_cast<std::uintptr_t>(fault.address), name) +
                   describe_address(running, fault.address);
        case fault_code::misaligned_address:
            return fault.address_known ? formatted("misaligned address: access of 0x%zx (%s)",
                                                   reinterpret_cast<std::uintptr_t>(fault.address), name)
                                       : formatted(
                                             "misaligned or wild address (%s): a vector access whose address is no "
                                             "multiple of its size, or a "
                                             "pointer that is no address at all",
                                             name);
        case fault_code::arithmetic:
            return formatted(
                "arithmetic: an integer division by zero or of the smallest number by -1 (%s); a GPU gives a "
                "meaningless number here",
                name);
        case fault_code::illegal_instruction:
            return formatted(
                "illegal instruction (%s): __builtin_trap, code that cannot be reached or a wild function pointer",
                name);
        case fault_code::trap: return formatted("trap (%s)", name);
        case fault_code::aborted: return formatted("abort() was called in the kernel (%s)", name);
        default: return formatted("%s (%s)", fault_name(fault.code), name);
    }
}

// Where the engine's own frames begin, seen from the kernel.
bool is_outside_kernel(const code_place &place) {
    return place.function.find("packed_kernel") != std::string::npos ||
           place.function.find("fibre_main") != std::string::npos ||
           place.function.find("run_body") != std::string::npos;
}

// Functions of the engine and the stand-in headers, which the kernel called: the kernel's line is what matters.
bool is_engine(const code_place &place) {
    return place.function.compare(0, 13, "oprt_emulator") == 0 || (place.function.empty() && place.line == 0);
}

std::string text_of(const code_place &place) {
    std::string text = place.file.empty() ? "an unknown place" : place.file;
    if (place.line > 0) text += ":" + std::to_string(place.line);
    if (!place.function.empty()) text += " in " + place.function;
    return text;
}

// The calls that led to the fault, the innermost first, up to the kernel itself.
std::vector<code_place> calls_of(const grid &running) {
    const fault_record &fault = running.fault;
    const code_symbol *kernel =
        own_image().function_at(reinterpret_cast<std::uintptr_t>(running.request->kernel_address));
    std::vector<std::uintptr_t> addresses;
    for (int i = 0; i < fault.frame_count; ++i) {
        const auto address = reinterpret_cast<std::uintptr_t>(fault.frames[i]);
        const bool is_exact = i == 0 && fault.signal != 0;
        addresses.push_back(is_exact ? address : address - 1);  // inside the call, not behind it
        if (kernel != nullptr && addresses.back() >= kernel->address &&
            addresses.back() - kernel->address < kernel->size_bytes) {
            break;
        }
    }
    std::vector<code_place> calls;
    for (const std::vector<code_place> &places : places_of(addresses)) {
        for (const code_place &place : places) {
            if (is_outside_kernel(place)) return calls;
            if (!is_engine(place)) calls.push_back(place);
        }
    }
    return calls;
}

// A line for each call; a recursion is told once.
std::string call_chain(const grid &running) {
    std::string text;
    std::string last_call;
    int repeated = 0;
    for (const code_place &place : calls_of(running)) {
        const std::string call = text_of(place);
        if (call == last_call) {
            ++repeated;
            continue;
        }
        if (repeated > 0) text += formatted(" (%d times and more)", repeated + 1);
        repeated = 0;
        text += (text.empty() ? "\n  at " : "\n  called from ") + call;
        last_call = call;
    }
    if (repeated > 0) text += formatted(" (%d times and more)", repeated + 1);
    return text;
}

std::string compose(const grid &running) {
    const grid_request &request = *running.request;
    const fault_record &fault = running.fault;
    const bool started = fault.code != fault_code::invalid_configuration && fault.code != fault_code::out_of_memory;
    std::string text = "kernel " + kernel_name(request) + (started ? " was stopped\n  " : " could not start\n  ");
    text += what_happened(running);
    if (fault.frame_count > 0) text += call_chain(running);
    if (fault.in_thread) text += "\n  block " + text_of(fault.block) + ", thread " + text_of(fault.thread);
    text += std::string(fault.in_thread ? " of a grid of " : "\n  a grid of ") + text_of(request.grid) + " blocks of " +
            text_of(request.block) + " threads";
    text += formatted("; warps of %d lanes, order %s", warp_size, order_text(running.order).c_str());
    return text;
}

}  // namespace

std::string last_report() { return last; }

void write_report(const grid &running) { last = compose(running); }

void forget_report() noexcept { last.clear(); }

}  // namespace oprt_emulator
