// The checks of the stand-in headers' test programs: each failure is printed with its place, the exit status says
// whether there was one.
#pragma once

#include <cstdio>
#include <cstring>

inline int failures = 0;

inline bool report_failure(const char *text, const char *file, int line) {
    if (++failures <= 20) std::printf("%s:%d: %s\n", file, line, text);
    return false;
}

#define CHECK(condition) ((condition) || report_failure(#condition, __FILE__, __LINE__))

// Two values that print as long long.
#define CHECK_EQUAL(got, wanted)                                                                                  \
    do {                                                                                                          \
        const auto got_value = (got);                                                                             \
        const auto wanted_value = (wanted);                                                                       \
        if (!(got_value == wanted_value)) {                                                                       \
            char text[512];                                                                                       \
            std::snprintf(text, sizeof text, "%s is %lld, wanted %s = %lld", #got, (long long)got_value, #wanted, \
                          (long long)wanted_value);                                                               \
            report_failure(text, __FILE__, __LINE__);                                                             \
        }                                                                                                         \
    } while (false)

inline int finish() {
    if (failures > 20) std::printf("... and %d more\n", failures - 20);
    std::printf("%s\n", failures == 0 ? "passed" : "failed");
    return failures == 0 ? 0 : 1;
}
