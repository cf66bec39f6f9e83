// What the ELF file of this module says: functions and thread-local variables with their names, and where its code is.
// Read once, when the first kernel runs. A stripped file has no symbols, and one that was rebuilt since it was loaded
// is not believed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace oprt_emulator {

struct code_symbol {
    std::uintptr_t address;  // in the process
    std::size_t size_bytes;
    const char *name;  // mangled
};

struct thread_local_symbol {
    std::size_t offset;  // in the module's block of thread-local storage
    std::size_t size_bytes;
    const char *name;  // mangled
};

struct module_image {
    std::string path;
    std::uintptr_t load_bias = 0;
    std::size_t thread_local_module = 0;  // for __tls_get_addr; 0: the module has no thread-locals
    std::size_t thread_local_bytes = 0;
    std::vector<code_symbol> functions;  // by address
    std::vector<thread_local_symbol> thread_locals;
    std::string names;  // storage of the symbol names

    // The function that an address lies in, or null.
    const code_symbol *function_at(std::uintptr_t address) const noexcept;
};

// The image of the module that the engine is in.
const module_image &own_image();

// Whether an address is code of this module. Safe in signal handlers, once own_image() was called.
bool is_own_code(std::uintptr_t address) noexcept;

// A C++ name as people write it; the name itself when it is none.
std::string demangle(const char *name);

}  // namespace oprt_emulator
