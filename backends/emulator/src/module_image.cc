// Reading of the module's ELF file.
#include "module_image.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace oprt_emulator {
namespace {

std::atomic<std::uintptr_t> code_begin{0};
std::atomic<std::uintptr_t> code_end{0};

class elf_file {
public:
    explicit elf_file(const char *path) : descriptor_(open(path, O_RDONLY | O_CLOEXEC)) {}
    ~elf_file() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    elf_file(const elf_file &) = delete;
    elf_file &operator=(const elf_file &) = delete;

    bool read(void *to, std::size_t size_bytes, std::uint64_t offset) const {
        char *place = static_cast<char *>(to);
        while (size_bytes != 0) {
            const ssize_t got = pread(descriptor_, place, size_bytes, static_cast<off_t>(offset));
            if (got <= 0) return false;
            place += got;
            offset += static_cast<std::uint64_t>(got);
            size_bytes -= static_cast<std::size_t>(got);
        }
        return true;
    }

    template <typename T>
    bool read_array(std::vector<T> &to, std::size_t count, std::uint64_t offset) const {
        to.resize(count);
        return read(to.data(), count * sizeof(T), offset);
    }

private:
    int descriptor_;
};

// What dl_iterate_phdr says of the object that holds an address.
struct loaded_object {
    std::uintptr_t address = 0;
    bool found = false;
    std::string path;
    std::uintptr_t load_bias = 0;
    std::vector<ElfW(Phdr)> headers;
    std::size_t thread_local_module = 0;
};

int match_object(dl_phdr_info *info, std::size_t, void *argument) {
    auto &object = *static_cast<loaded_object *>(argument);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) &header = info->dlpi_phdr[i];
        const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
        if (header.p_type != PT_LOAD || object.address < begin || object.address >= begin + header.p_memsz) continue;
        object.found = true;
        object.path = *info->dlpi_name != '\0' ? info->dlpi_name : "/proc/self/exe";
        object.load_bias = info->dlpi_addr;
        object.headers.assign(info->dlpi_phdr, info->dlpi_phdr + info->dlpi_phnum);
        object.thread_local_module = info->dlpi_tls_modid;
        code_begin = begin;
        code_end = begin + header.p_memsz;
        return 1;
    }
    return 0;
}

bool same_headers(const elf_file &file, const ElfW(Ehdr) & header, const loaded_object &object) {
    std::vector<ElfW(Phdr)> headers;
    return header.e_phnum == object.headers.size() && file.read_array(headers, header.e_phnum, header.e_phoff) &&
           std::memcmp(headers.data(), object.headers.data(), headers.size() * sizeof headers[0]) == 0;
}

void take_symbols(module_image &image, const std::vector<ElfW(Sym)> &symbols) {
    for (const ElfW(Sym) & symbol : symbols) {
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= image.names.size()) continue;
        const char *name = image.names.c_str() + symbol.st_name;
        const auto type = symbol.st_info & 0xF;
        if (type == STT_FUNC) {
            image.functions.push_back({image.load_bias + symbol.st_value, symbol.st_size, name});
        } else if (type == STT_TLS && symbol.st_value + symbol.st_size <= image.thread_local_bytes) {
            image.thread_locals.push_back({symbol.st_value, symbol.st_size, name});
        }
    }
    std::stable_sort(image.functions.begin(), image.functions.end(),
                     [](const code_symbol &a, const code_symbol &b) { return a.address < b.address; });
}

void read_symbols(module_image &image, const loaded_object &object) {
    const elf_file file(image.path.c_str());
    ElfW(Ehdr) header;
    if (!file.read(&header, sizeof header, 0) || !same_headers(file, header, object)) return;
    std::vector<ElfW(Shdr)> sections;
    if (!file.read_array(sections, header.e_shnum, header.e_shoff)) return;
    for (const ElfW(Shdr) & section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
        const ElfW(Shdr) &strings = sections[section.sh_link];
        std::vector<ElfW(Sym)> symbols;
        image.names.resize(strings.sh_size);
        if (!file.read(image.names.data(), strings.sh_size, strings.sh_offset)) return;
        if (!file.read_array(symbols, section.sh_size / sizeof(ElfW(Sym)), section.sh_offset)) return;
        take_symbols(image, symbols);
    }
}

module_image *read_own_image() {
    auto *image = new module_image;  // for the life of the process: helpers look into it until the end
    loaded_object object;
    object.address = reinterpret_cast<std::uintptr_t>(&read_own_image);
    dl_iterate_phdr(&match_object, &object);
    if (!object.found) return image;
    image->path = object.path;
    image->load_bias = object.load_bias;
    image->thread_local_module = object.thread_local_module;
    for (const ElfW(Phdr) & header : object.headers) {
        if (header.p_type == PT_TLS) image->thread_local_bytes = header.p_memsz;
    }
    read_symbols(*image, object);
    return image;
}

}  // namespace

const code_symbol *module_image::function_at(std::uintptr_t address) const noexcept {
    auto after =
        std::upper_bound(functions.begin(), functions.end(), address,
                         [](std::uintptr_t value, const code_symbol &symbol) { return value < symbol.address; });
    if (after == functions.begin()) return nullptr;
    const code_symbol &symbol = *--after;
    return address < symbol.address + symbol.size_bytes ? &symbol : nullptr;
}

const module_image &own_image() {
    static const module_image *image = read_own_image();
    return *image;
}

bool is_own_code(std::uintptr_t address) noexcept { return address >= code_begin && address < code_end; }

std::string demangle(const char *name) {
    int status = 0;
    char *text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
    std::string result = text != nullptr ? text : name;
    std::free(text);
    return result;
}

}  // namespace oprt_emulator
