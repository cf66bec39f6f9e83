// Signal handlers. A fault is the kernel's own when the interrupted stack pointer lies on a stack of a worker; the
// handler then notes what happened in the grid's fault record and lets the return from the handler continue on the
// worker's home stack.
//
// A process may hold several modules with an engine each. Only the first one's handlers are installed; the others
// recognise them by a mark in front of the handler's code and register themselves there, so that no two of them ever
// chain to each other in a circle.
#include "signals.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "grid.h"
#include "module_image.h"

namespace oprt_emulator {

using try_function = bool (*)(int, siginfo_t *, void *);

// What modules know of each other. version changes with the layout or the meaning.
struct signal_bridge {
    static constexpr std::uint64_t mark_value = 0x6F70727453494D54u;
    static constexpr std::uint32_t version_value = 1;
    static constexpr unsigned max_modules = 16;

    std::uint64_t mark = mark_value;
    std::uint32_t version = version_value;
    std::atomic<std::uint32_t> count{0};
    std::atomic<try_function> modules[max_modules] = {};
};

namespace {

constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
constexpr int stop = SIGURG;  // ignored by default, so one that comes late does no harm
constexpr std::size_t signal_stack_bytes = 1 << 16;
constexpr int attempts_outside_own_code = 40;

// Where to say that the process dies of a fault outside of kernels, which nothing else tells when no handler was there
// before: CAMP_EMULATOR_REPORT_FD, set by test runners that capture the error stream. -1: nowhere. Their children may
// inherit the variable without the descriptor: then the error stream.
int report_descriptor = -1;
std::mutex install_mutex;
struct sigaction previous[NSIG];
std::atomic<pthread_t> chaining[NSIG];  // the thread that is in a previous handler of the signal
// The handler of SIGSEGV through which the engine is known to be reached; at first none, not even the default.
const char no_handler = 0;
std::atomic<const void *> top_handler{&no_handler};

std::uintptr_t stack_pointer_of(const void *context) noexcept {
    const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return machine.sp;
#else
    (void)machine;
    // The handler cannot know; the engine's own threads are in a block or they are not.
    const worker *self = worker_of_os_thread();
    return self != nullptr && self->in_block ? reinterpret_cast<std::uintptr_t>(self) : 0;
#endif
}

std::uintptr_t code_address_of(const void *context) noexcept {
    const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
    return machine.pc;
#else
    (void)machine;
    return 0;
#endif
}

// The return address of a call that has not set up its frame, as after a call of a null function.
void *return_address_of(const void *context) noexcept {
    const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    return *reinterpret_cast<void *const *>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
    return reinterpret_cast<void *>(machine.regs[30]);
#else
    (void)machine;
    return nullptr;
#endif
}

// "write", "read" or "access" of the address that faulted.
const char *kind_of_access(const void *context) noexcept {
    const auto &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
    return (machine.gregs[REG_ERR] & 2) != 0 ? "write" : "read";
#else
    (void)machine;
    return "access";
#endif
}

struct frame_walk {
    fault_record &record;
    std::uintptr_t fault_address;
    bool found;
};

_Unwind_Reason_Code add_frame(_Unwind_Context *context, void *argument) {
    auto &walk = *static_cast<frame_walk *>(argument);
    const std::uintptr_t address = _Unwind_GetIP(context);
    if (!walk.found) {
        // The handler's own frames come first.
        walk.found = address == walk.fault_address;
        return _URC_NO_REASON;
    }
    if (address == 0 || walk.record.frame_count == fault_record::max_frames) return _URC_END_OF_STACK;
    walk.record.frames[walk.record.frame_count++] = reinterpret_cast<void *>(address);
    return _URC_NO_REASON;
}

void note_frames(fault_record &record, const void *context) noexcept {
    const std::uintptr_t address = code_address_of(context);
    record.frames[0] = reinterpret_cast<void *>(address);
    record.frame_count = 1;
    if (address < 4096) {
        record.frames[record.frame_count++] = return_address_of(context);
        return;
    }
    frame_walk walk = {record, address, false};
    _Unwind_Backtrace(&add_frame, &walk);
}

}  // namespace

void note_own_frames(fault_record &record) noexcept {
    record.frame_count = 0;
    frame_walk walk = {record, 0, true};
    _Unwind_Backtrace(&add_frame, &walk);
}

namespace {

void classify(fault_record &record, int signal, const siginfo_t *info, const void *context) noexcept {
    record.signal = signal;
    record.address = info->si_addr;
    const char *what = "";
    switch (signal) {
        case SIGSEGV:
        case SIGBUS: {
            const bool general_protection = signal == SIGSEGV && info->si_code == SI_KERNEL && info->si_addr == nullptr;
            const bool misaligned = general_protection || (signal == SIGBUS && info->si_code == BUS_ADRALN);
            record.code = misaligned ? fault_code::misaligned_address : fault_code::illegal_address;
            record.address_known = !general_protection;
            if (place_of_address(info->si_addr) == area_place::stack_guard) record.code = fault_code::stack_overflow;
            what = misaligned ? "misaligned" : kind_of_access(context);
            break;
        }
        case SIGFPE: record.code = fault_code::arithmetic; break;
        case SIGILL: record.code = fault_code::illegal_instruction; break;
        case SIGTRAP: record.code = fault_code::trap; break;
        case SIGABRT: record.code = fault_code::aborted; break;
        default: record.code = fault_code::time_limit; break;
    }
    std::strcpy(record.text, what);
}

bool stop_now(grid &running, const void *context) noexcept {
    if (!running.stop_requested.load(std::memory_order_acquire)) return false;
    // Code of other libraries may hold a lock; wait until it is out of there, but not for ever.
    return is_own_code(code_address_of(context)) ||
           running.stop_attempts.fetch_add(1, std::memory_order_relaxed) > attempts_outside_own_code;
}

// Handle a signal that a kernel of this module raised. False: it is not ours.
bool handle_own_signal(int signal, siginfo_t *info, void *context) {
    worker *self = worker_of_address(reinterpret_cast<const void *>(stack_pointer_of(context)));
    if (self == nullptr || self->running.load() == nullptr || !self->in_block) {
        // The handler itself may have faulted, looking at a broken stack.
        worker *broken = signal == stop ? nullptr : worker_in_handler(pthread_self());
        if (broken == nullptr) return false;
        broken->running.load()->abandoned.store(true, std::memory_order_release);
        broken->in_handler = false;
        broken->faulted = true;
        resume_fibre_after_signal(context, broken->home);
        return true;
    }
    grid &running = *self->running.load();
    if (signal == stop) {
        if (info->si_code != SI_TKILL) return false;
        if (!stop_now(running, context)) return true;
    } else if (info->si_code <= 0 && signal != SIGABRT) {
        return false;  // sent by somebody, not raised by an instruction
    }
    self->in_handler = true;
    if (fault_record *record = claim_fault(running)) {
        note_thread(*record, *self);
        classify(*record, signal, info, context);
        note_frames(*record, context);
    }
    running.abandoned.store(true, std::memory_order_release);
    self->in_handler = false;
    self->faulted = true;
    resume_fibre_after_signal(context, self->home);
    return true;
}

void tell_crash(int signal) noexcept {
    if (report_descriptor < 0) return;
    char text[128];
    const int length =
        std::snprintf(text, sizeof text, "emulator: signal %d outside of any kernel ends the process%s\n", signal,
                      signal == SIGSEGV || signal == SIGBUS ? " (did a kernel write over host memory?)" : "");
    ssize_t written = write(report_descriptor, text, static_cast<std::size_t>(length));
    if (written < 0 && errno == EBADF) written = write(STDERR_FILENO, text, static_cast<std::size_t>(length));
    static_cast<void>(written);
}

void fall_to_default(int signal, const siginfo_t *info) noexcept {
    tell_crash(signal);
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
    // A fault happens again when the handler returns; a signal that was sent has to be sent again.
    if (info->si_code <= 0) raise(signal);
}

void call_previous(int signal, siginfo_t *info, void *context) {
    const struct sigaction &before = previous[signal];
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(signal, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(signal);
    } else if (signal != stop && (before.sa_handler == SIG_DFL || info->si_code > 0)) {
        fall_to_default(signal, info);
    }
}

// Give the signal to whoever had it before. A handler that raises it again gets the default.
void chain(int signal, siginfo_t *info, void *context) {
    const pthread_t self = pthread_self();
    if (chaining[signal].load() == self) {
        fall_to_default(signal, info);
        return;
    }
    const pthread_t outer = chaining[signal].exchange(self);
    call_previous(signal, info, context);
    chaining[signal].store(outer);
}

}  // namespace

extern "C" {

__attribute__((visibility("hidden"))) signal_bridge oprt_emulator_signal_bridge;

__attribute__((visibility("hidden"), used)) void oprt_emulator_handle_signal(int signal, siginfo_t *info,
                                                                             void *context) {
    const unsigned count = oprt_emulator_signal_bridge.count.load(std::memory_order_acquire);
    bool handled = handle_own_signal(signal, info, context);
    for (unsigned i = 0; i < count && !handled; ++i) {
        handled = oprt_emulator_signal_bridge.modules[i].load(std::memory_order_acquire)(signal, info, context);
    }
    if (!handled) chain(signal, info, context);
}

// The installed handler: in front of it the mark and the distance to the bridge.
__attribute__((visibility("hidden"))) void oprt_emulator_signal_entry(int signal, siginfo_t *info, void *context);
}

#if defined(__x86_64__)
#define OPRT_EMULATOR_JUMP "jmp oprt_emulator_handle_signal"
#elif defined(__aarch64__)
#define OPRT_EMULATOR_JUMP "b oprt_emulator_handle_signal"
#endif

#if defined(OPRT_EMULATOR_JUMP)
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".quad 0x6F70727453494D54\n"
    ".quad oprt_emulator_signal_bridge - oprt_emulator_signal_entry\n"
    ".globl oprt_emulator_signal_entry\n"
    ".hidden oprt_emulator_signal_entry\n"
    ".type oprt_emulator_signal_entry, %function\n"
    "oprt_emulator_signal_entry:\n" OPRT_EMULATOR_JUMP
    "\n"
    ".size oprt_emulator_signal_entry, . - oprt_emulator_signal_entry\n");
#else
void oprt_emulator_signal_entry(int signal, siginfo_t *info, void *context) {
    oprt_emulator_handle_signal(signal, info, context);
}
#endif

namespace {

const void *entry_address() noexcept { return reinterpret_cast<const void *>(&oprt_emulator_signal_entry); }

// Copy memory that may not be there.
bool peek(void *to, std::uintptr_t from, std::size_t size_bytes) noexcept {
    iovec local = {to, size_bytes};
    iovec remote = {reinterpret_cast<void *>(from), size_bytes};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size_bytes)) return true;
    if (errno != EPERM && errno != ENOSYS) return false;
    // Not allowed here. Code in front of a function, and what a mark points to, is there in practice.
    std::memcpy(to, reinterpret_cast<const void *>(from), size_bytes);
    return true;
}

// The bridge of another module's engine when the handler is one; else null.
signal_bridge *bridge_behind(const void *handler) noexcept {
    std::uint64_t front[2];
    const auto entry = reinterpret_cast<std::uintptr_t>(handler);
    if (!peek(front, entry - sizeof front, sizeof front) || front[0] != signal_bridge::mark_value) return nullptr;
    const std::uintptr_t place = entry + front[1];
    std::uint64_t head[2];
    if (!peek(head, place, sizeof head) || head[0] != signal_bridge::mark_value) return nullptr;
    auto *bridge = reinterpret_cast<signal_bridge *>(place);
    return bridge->version == signal_bridge::version_value ? bridge : nullptr;
}

// False: the table is full.
bool register_with(signal_bridge &bridge) noexcept {
    const unsigned known = bridge.count.load(std::memory_order_acquire);
    for (unsigned i = 0; i < known && i < signal_bridge::max_modules; ++i) {
        if (bridge.modules[i].load() == &handle_own_signal) return true;
    }
    for (unsigned slot = known; slot < signal_bridge::max_modules; ++slot) {
        try_function nobody = nullptr;
        if (!bridge.modules[slot].compare_exchange_strong(nobody, &handle_own_signal)) continue;
        std::uint32_t count = bridge.count.load();
        while (count < slot + 1 && !bridge.count.compare_exchange_weak(count, slot + 1)) {
        }
        return true;
    }
    return false;
}

void install(int signal) noexcept {
    struct sigaction action = {};
    struct sigaction before = {};
    action.sa_sigaction = &oprt_emulator_signal_entry;
    // Not blocked while handled: the handler ends by continuing elsewhere, and it may fault itself.
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, nullptr, &before);
    if ((before.sa_flags & SA_SIGINFO) == 0 || before.sa_sigaction != &oprt_emulator_signal_entry)
        previous[signal] = before;
    sigaction(signal, &action, nullptr);
}

// Load what the handler needs now: the unwinder must not be loaded or allocate in a handler.
_Unwind_Reason_Code ignore_frame(_Unwind_Context *, void *) { return _URC_NO_REASON; }

void prepare_unwinder() {
    _Unwind_Backtrace(&ignore_frame, nullptr);
    own_image();
}

struct signal_stack {
    void *memory = nullptr;
};
thread_local signal_stack own_stack;

}  // namespace

void ensure_signal_handlers() noexcept {
    struct sigaction current = {};
    sigaction(SIGSEGV, nullptr, &current);
    const void *handler = reinterpret_cast<const void *>(current.sa_sigaction);
    if (handler == top_handler.load(std::memory_order_acquire)) return;
    std::lock_guard<std::mutex> lock(install_mutex);
    prepare_unwinder();
    if (const char *descriptor = std::getenv("CAMP_EMULATOR_REPORT_FD")) report_descriptor = std::atoi(descriptor);
    signal_bridge *other = handler == entry_address() || handler == nullptr ? nullptr : bridge_behind(handler);
    if (other != nullptr && register_with(*other)) {
        top_handler.store(handler, std::memory_order_release);
        return;
    }
    for (int signal : fault_signals) install(signal);
    install(stop);
    top_handler.store(entry_address(), std::memory_order_release);
}

void provide_signal_stack() noexcept {
    stack_t current = {};
    sigaltstack(nullptr, &current);
    if ((current.ss_flags & SS_DISABLE) == 0 && current.ss_size >= signal_stack_bytes) return;
    if (own_stack.memory == nullptr) {
        void *memory = mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return;
        own_stack.memory = memory;
    }
    stack_t stack = {};
    stack.ss_sp = own_stack.memory;
    stack.ss_size = signal_stack_bytes;
    sigaltstack(&stack, nullptr);
}

void forget_signal_stack() noexcept {
    if (own_stack.memory == nullptr) return;
    stack_t current = {};
    sigaltstack(nullptr, &current);
    if (current.ss_sp == own_stack.memory) {
        stack_t off = {};
        off.ss_flags = SS_DISABLE;
        sigaltstack(&off, nullptr);
    }
    munmap(own_stack.memory, signal_stack_bytes);
    own_stack.memory = nullptr;
}

void unblock_fault_signals() noexcept {
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : fault_signals) sigaddset(&signals, signal);
    sigaddset(&signals, stop);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

void keep_fault_signals(sigset_t &blocked) noexcept {
    for (int signal : fault_signals) sigdelset(&blocked, signal);
    sigdelset(&blocked, stop);
}

int stop_signal() noexcept { return stop; }

}  // namespace oprt_emulator
