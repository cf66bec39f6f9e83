// Decoder of .debug_line. Written for reading one address once in a while: nothing is kept.
#include "line_table.h"

#include <elf.h>
#include <link.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace oprt_emulator {
namespace {

using bytes = std::vector<unsigned char>;

struct debug_sections {
    bytes line;
    bytes line_strings;
    bytes strings;
};

bool read_at(std::FILE *file, std::uint64_t offset, void *to, std::size_t size) {
    return std::fseek(file, static_cast<long>(offset), SEEK_SET) == 0 && std::fread(to, 1, size, file) == size;
}

bool read_sections(const std::string &path, debug_sections &sections) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
    ElfW(Ehdr) header;
    if (file == nullptr || !read_at(file.get(), 0, &header, sizeof header)) return false;
    std::vector<ElfW(Shdr)> table(header.e_shnum);
    if (!read_at(file.get(), header.e_shoff, table.data(), table.size() * sizeof table[0])) return false;
    if (header.e_shstrndx >= table.size()) return false;
    std::string names(table[header.e_shstrndx].sh_size, '\0');
    if (!read_at(file.get(), table[header.e_shstrndx].sh_offset, names.data(), names.size())) return false;
    for (const ElfW(Shdr) & section : table) {
        if (section.sh_name >= names.size() || (section.sh_flags & SHF_COMPRESSED) != 0) continue;
        const char *name = names.c_str() + section.sh_name;
        bytes *place = std::strcmp(name, ".debug_line") == 0       ? &sections.line
                       : std::strcmp(name, ".debug_line_str") == 0 ? &sections.line_strings
                       : std::strcmp(name, ".debug_str") == 0      ? &sections.strings
                                                                   : nullptr;
        if (place == nullptr) continue;
        place->resize(section.sh_size);
        if (!read_at(file.get(), section.sh_offset, place->data(), place->size())) return false;
    }
    return !sections.line.empty();
}

// Reads within bounds; past the end it gives zeros and good() is false.
class cursor {
public:
    cursor(const bytes &data, std::size_t position, std::size_t end) : data_(data), position_(position), end_(end) {}

    bool good() const { return good_; }
    bool at_end() const { return position_ >= end_; }
    std::size_t position() const { return position_; }
    void seek(std::size_t position) { position_ = position; }

    std::uint64_t fixed(unsigned size) {
        if (size > end_ - position_ || position_ > end_) return fail();
        std::uint64_t value = 0;
        for (unsigned i = 0; i < size; ++i) value |= std::uint64_t{data_[position_ + i]} << (8 * i);
        position_ += size;
        return value;
    }

    std::uint64_t unsigned_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint64_t byte = fixed(1);
            if (shift < 64) value |= (byte & 0x7F) << shift;
            if (!good_ || (byte & 0x80) == 0) return value;
        }
    }

    std::int64_t signed_leb() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint64_t byte = fixed(1);
            if (shift < 64) value |= (byte & 0x7F) << shift;
            if (good_ && (byte & 0x80) != 0) continue;
            if (shift + 7 < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << (shift + 7);
            return static_cast<std::int64_t>(value);
        }
    }

    std::string text() {
        std::string result;
        while (good_) {
            const auto letter = static_cast<char>(fixed(1));
            if (letter == '\0') break;
            result += letter;
        }
        return result;
    }

    void skip(std::uint64_t count) {
        if (position_ > end_ || count > end_ - position_) {
            fail();
            return;
        }
        position_ += count;
    }

private:
    std::uint64_t fail() {
        good_ = false;
        position_ = end_;
        return 0;
    }

    const bytes &data_;
    std::size_t position_;
    std::size_t end_;
    bool good_ = true;
};

struct file_entry {
    std::string name;
    std::uint64_t directory = 0;
};

// The header of one unit's line program.
struct line_program {
    unsigned version = 0;
    unsigned offset_bytes = 4;
    unsigned minimum_instruction_bytes = 1;
    bool default_is_statement = true;
    int line_base = 0;
    unsigned line_range = 1;
    unsigned opcode_base = 1;
    std::vector<unsigned> operand_counts;
    std::vector<std::string> directories;
    std::vector<file_entry> files;

    std::string file_name(std::uint64_t number) const {
        const std::uint64_t index = version >= 5 ? number : number - 1;
        if (index >= files.size()) return "";
        const file_entry &file = files[index];
        if (!file.name.empty() && file.name[0] == '/') return file.name;
        const std::uint64_t directory = version >= 5 ? file.directory : file.directory - 1;
        if (directory >= directories.size()) return file.name;
        const std::string path = directories[directory] + "/" + file.name;
        if (path[0] == '/' || version < 5 || directories.empty()) return path;
        return directories[0] + "/" + path;  // relative to where the compiler ran
    }
};

enum form : unsigned {
    string_form = 0x08,
    line_string_form = 0x1F,
    strings_form = 0x0E,
    data1 = 0x0B,
    data2 = 0x05,
    data4 = 0x06,
    data8 = 0x07,
    data16 = 0x1E,
    unsigned_data = 0x0F,
    block_form = 0x09
};

std::string text_at(const bytes &section, std::uint64_t offset) {
    cursor place(section, offset < section.size() ? offset : section.size(), section.size());
    return place.text();
}

// One field of a DWARF 5 directory or file entry: a text or a number. False: a form that is not known here.
bool read_field(cursor &input, unsigned field_form, unsigned offset_bytes, const debug_sections &sections,
                std::string &text, std::uint64_t &number) {
    switch (field_form) {
        case string_form: text = input.text(); return true;
        case line_string_form: text = text_at(sections.line_strings, input.fixed(offset_bytes)); return true;
        case strings_form: text = text_at(sections.strings, input.fixed(offset_bytes)); return true;
        case data1: number = input.fixed(1); return true;
        case data2: number = input.fixed(2); return true;
        case data4: number = input.fixed(4); return true;
        case data8: number = input.fixed(8); return true;
        case data16: input.skip(16); return true;
        case unsigned_data: number = input.unsigned_leb(); return true;
        case block_form: input.skip(input.unsigned_leb()); return true;
        default: return false;
    }
}

bool read_entries(cursor &input, unsigned offset_bytes, const debug_sections &sections,
                  std::vector<file_entry> &entries) {
    constexpr std::uint64_t path_content = 1, directory_content = 2;
    std::vector<std::pair<std::uint64_t, unsigned>> format(input.fixed(1));
    for (auto &field : format) {
        field.first = input.unsigned_leb();
        field.second = static_cast<unsigned>(input.unsigned_leb());
    }
    const std::uint64_t count = input.unsigned_leb();
    for (std::uint64_t i = 0; i < count && input.good(); ++i) {
        file_entry entry;
        for (const auto &field : format) {
            std::string text;
            std::uint64_t number = 0;
            if (!read_field(input, field.second, offset_bytes, sections, text, number)) return false;
            if (field.first == path_content) entry.name = text;
            if (field.first == directory_content) entry.directory = number;
        }
        entries.push_back(entry);
    }
    return input.good();
}

void read_old_tables(cursor &input, line_program &program) {
    for (std::string name = input.text(); !name.empty(); name = input.text()) program.directories.push_back(name);
    for (std::string name = input.text(); !name.empty(); name = input.text()) {
        const std::uint64_t directory = input.unsigned_leb();
        input.unsigned_leb();  // time
        input.unsigned_leb();  // size
        program.files.push_back({name, directory});
    }
}

// Leaves the cursor at the first instruction.
bool read_header(cursor &input, const debug_sections &sections, line_program &program) {
    program.version = static_cast<unsigned>(input.fixed(2));
    if (program.version < 2 || program.version > 5) return false;
    if (program.version >= 5) input.skip(2);  // sizes of an address and a segment selector
    const std::uint64_t header_bytes = input.fixed(program.offset_bytes);
    const std::size_t first_instruction = input.position() + header_bytes;
    program.minimum_instruction_bytes = static_cast<unsigned>(input.fixed(1));
    if (program.version >= 4) input.skip(1);  // operations an instruction
    program.default_is_statement = input.fixed(1) != 0;
    program.line_base = static_cast<signed char>(input.fixed(1));
    program.line_range = static_cast<unsigned>(input.fixed(1));
    program.opcode_base = static_cast<unsigned>(input.fixed(1));
    if (program.line_range == 0) return false;
    for (unsigned opcode = 1; opcode < program.opcode_base; ++opcode) {
        program.operand_counts.push_back(static_cast<unsigned>(input.fixed(1)));
    }
    if (program.version < 5) {
        read_old_tables(input, program);
    } else {
        std::vector<file_entry> directories;
        if (!read_entries(input, program.offset_bytes, sections, directories)) return false;
        for (const file_entry &entry : directories) program.directories.push_back(entry.name);
        if (!read_entries(input, program.offset_bytes, sections, program.files)) return false;
    }
    input.seek(first_instruction);
    return input.good();
}

struct row {
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::uint64_t line = 1;
};

// Runs one unit's program until the row that covers an address is known.
class line_machine {
public:
    line_machine(const line_program &program, std::uint64_t wanted) : program_(program), wanted_(wanted) {}

    bool run(cursor &input) {
        while (input.good() && !input.at_end() && !found_) step(input);
        return found_;
    }

    const row &result() const { return result_; }

private:
    void emit() {
        if (have_previous_ && previous_.address <= wanted_ && wanted_ < now_.address) {
            found_ = true;
            result_ = previous_;
        }
        previous_ = now_;
        have_previous_ = true;
    }

    void end_sequence() {
        emit();
        now_ = row{};
        have_previous_ = false;
    }

    void advance(std::uint64_t operations) { now_.address += operations * program_.minimum_instruction_bytes; }

    void special(unsigned opcode) {
        const unsigned adjusted = opcode - program_.opcode_base;
        advance(adjusted / program_.line_range);
        now_.line += static_cast<std::uint64_t>(program_.line_base + static_cast<int>(adjusted % program_.line_range));
        emit();
    }

    void extended(cursor &input) {
        const std::uint64_t length = input.unsigned_leb();
        const std::size_t end = input.position() + length;
        const std::uint64_t opcode = length == 0 ? 0 : input.fixed(1);
        if (opcode == 1) end_sequence();
        if (opcode == 2) now_.address = input.fixed(static_cast<unsigned>(length - 1));
        input.seek(end);
    }

    void standard(cursor &input, unsigned opcode) {
        switch (opcode) {
            case 1: emit(); break;
            case 2: advance(input.unsigned_leb()); break;
            case 3: now_.line += static_cast<std::uint64_t>(input.signed_leb()); break;
            case 4: now_.file = input.unsigned_leb(); break;
            case 8: advance((255 - program_.opcode_base) / program_.line_range); break;
            case 9: now_.address += input.fixed(2); break;
            default:
                for (unsigned i = 0; i < program_.operand_counts[opcode - 1]; ++i) input.unsigned_leb();
                break;
        }
    }

    void step(cursor &input) {
        const auto opcode = static_cast<unsigned>(input.fixed(1));
        if (opcode >= program_.opcode_base) {
            special(opcode);
        } else if (opcode == 0) {
            extended(input);
        } else {
            standard(input, opcode);
        }
    }

    const line_program &program_;
    std::uint64_t wanted_;
    row now_;
    row previous_;
    row result_;
    bool have_previous_ = false;
    bool found_ = false;
};

}  // namespace

source_line find_line(const std::string &path, std::uint64_t address) {
    debug_sections sections;
    if (!read_sections(path, sections)) return {};
    std::size_t unit = 0;
    while (unit + 4 < sections.line.size()) {
        cursor head(sections.line, unit, sections.line.size());
        line_program program;
        std::uint64_t length = head.fixed(4);
        if (length == 0xFFFFFFFF) {
            length = head.fixed(8);
            program.offset_bytes = 8;
        }
        const std::size_t begin = head.position();
        if (length > sections.line.size() - begin) return {};
        cursor input(sections.line, begin, begin + length);
        if (read_header(input, sections, program)) {
            line_machine machine(program, address);
            if (machine.run(input)) {
                return {program.file_name(machine.result().file), static_cast<int>(machine.result().line)};
            }
        }
        unit = begin + length;
    }
    return {};
}

}  // namespace oprt_emulator
