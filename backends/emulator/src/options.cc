// Reading of CAMP_EMULATOR_ORDER, CAMP_EMULATOR_THREADS and CAMP_EMULATOR_TIME_LIMIT.
#include "options.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace oprt_emulator {
namespace {

constexpr char prefix[] = "CAMP_EMULATOR_";
constexpr unsigned max_workers = 64;

bool parse_number(const char *text, std::uint64_t &value) {
    if (*text < '0' || *text > '9') return false;
    char *end = nullptr;
    errno = 0;
    value = std::strtoull(text, &end, 0);
    return errno == 0 && *end == '\0';
}

// The rest of text after a word, or null.
const char *after(const char *text, const char *word) {
    const std::size_t length = std::strlen(word);
    return std::strncmp(text, word, length) == 0 ? text + length : nullptr;
}

bool parse_order(const char *text, schedule_order &order) {
    if (*text == '\0') return true;
    const char *rest = text;
    if (const char *warp = after(text, "warp-first")) {
        order.warp_first = true;
        rest = warp;
    } else if (const char *ring = after(text, "ring")) {
        rest = ring;
    } else if (std::strcmp(text, "forward") == 0) {
        return true;
    } else {
        // "reverse" and "random:SEED" are short for the ring orders.
        static thread_local std::string full;
        full = std::string("-") + text;
        rest = full.c_str();
    }
    if (*rest == '\0') return true;
    if (std::strcmp(rest, "-reverse") == 0) {
        order.way = schedule_order::direction::backward;
        return true;
    }
    const char *seed = after(rest, "-random:");
    order.way = schedule_order::direction::random;
    return seed != nullptr && parse_number(seed, order.seed);
}

bool parse_option(const char *name, const char *value, engine_options &options) {
    if (std::strcmp(name, "ORDER") == 0) return parse_order(value, options.order);
    if (std::strcmp(name, "THREADS") == 0) {
        std::uint64_t threads = 0;
        if (*value == '\0') return true;
        if (!parse_number(value, threads) || threads == 0 || threads > 1024) return false;
        options.threads = static_cast<unsigned>(threads);
        return true;
    }
    if (std::strcmp(name, "TIME_LIMIT") == 0) {
        if (*value == '\0') return true;
        char *end = nullptr;
        options.time_limit_s = std::strtod(value, &end);
        return *end == '\0' && options.time_limit_s >= 0;
    }
    return true;
}

const char *wanted_values(const char *name) {
    if (std::strcmp(name, "ORDER") == 0) {
        return "ring, ring-reverse, ring-random:SEED, warp-first, warp-first-reverse or warp-first-random:SEED";
    }
    return std::strcmp(name, "THREADS") == 0 ? "a number from 1 to 1024" : "seconds (0: no limit)";
}

unsigned usable_cores() {
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) return static_cast<unsigned>(CPU_COUNT(&cores));
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? static_cast<unsigned>(online) : 1;
}

}  // namespace

std::string order_text(const schedule_order &order) {
    std::string text = order.warp_first ? "warp-first" : "ring";
    if (order.way == schedule_order::direction::backward) text += "-reverse";
    if (order.way == schedule_order::direction::random) text += "-random:" + std::to_string(order.seed);
    return text;
}

engine_options read_options() {
    engine_options options;
    if (environ == nullptr) return options;
    for (char **entry = environ; *entry != nullptr; ++entry) {
        const char *tail = after(*entry, prefix);
        const char *equals = tail != nullptr ? std::strchr(tail, '=') : nullptr;
        if (equals == nullptr) continue;
        const std::string name(tail, equals);
        if (!parse_option(name.c_str(), equals + 1, options)) {
            options.error = prefix + name + " is \"" + (equals + 1) + "\"; wanted " + wanted_values(name.c_str());
        }
    }
    return options;
}

unsigned worker_count(const engine_options &options) {
    if (options.threads != 0) return options.threads;
    unsigned cores = usable_cores();
    std::uint64_t sharers = 0;
    const char *pytest_workers = std::getenv("PYTEST_XDIST_WORKER_COUNT");
    if (pytest_workers != nullptr && parse_number(pytest_workers, sharers) && sharers > 1) {
        cores = static_cast<unsigned>(cores / sharers);
    }
    return cores == 0 ? 1 : cores > max_workers ? max_workers : cores;
}

}  // namespace oprt_emulator
