// SPDX-License-Identifier: MIT
// symbols: opens libdw on an ELF file in memory, and is the only way to call it.
//
// Before a handle is given out, the debug sections are checked against limits, and the units of
// .debug_info are loaded. libdw can then neither exhaust memory nor run forever. dwarf.h explains
// why every call goes through extract_dwarf_run.
// Standard: DWARF Debugging Information Format, versions 2 to 5 (section numbers are of 5);
// gABI draft of 2015, "Section Compression".
#ifdef EXTRACT_HAVE_DW
#include "dwarf.h"
#include <setjmp.h>

#define INFLATED_MAX   (1u << 30)
#define MAX_DEFLATE    1032u      // highest ratio of deflate; a header that claims more is false
#define UNITS_MAX      (1u << 17) // libdw uses about 1 KiB for each
#define ABBREVS_MORE   (1u << 24) // bytes of abbreviations that sharing units read again
#define ATTRIBUTES_MAX 256u       // per entry; each read of an entry reads them all

// The jump target of the out-of-memory handler. It cannot be in an object, because libdw passes
// nothing to its handler. It is set only during a call, and each thread has its own. It is in the
// static TLS block: in a loaded library, a lazily allocated one would need memory at its first use,
// and would abort the process if there is none.
static _Thread_local jmp_buf *way_back __attribute__((tls_model("initial-exec")));

__attribute__((noreturn)) static void out_of_memory(void)
{
    longjmp(*way_back, 1);
}

bool extract_dwarf_run(struct extract_dwarf **dwarf, bool (*work)(void *context), void *context)
{
    jmp_buf here;
    bool answer = false;

    if (!*dwarf)
        return false;
    if (setjmp(here) == 0) {
        way_back = &here;
        answer = work(context);
        way_back = NULL;
        return answer;
    }
    way_back = NULL;
    extract_dwarf_close(*dwarf);
    *dwarf = NULL;
    return false;
}

Elf_Data *extract_dwarf_data(const struct elf_file *file, const char *name)
{
    size_t found = 0;

    for (uint32_t i = 0; i < file->section_count; i++) {
        if (strcmp(file->sections[i].name, name) != 0)
            continue;
        // Of two sections with the same name, libdw does not document which one it uses.
        if (found)
            return NULL;
        found = i;
    }
    return found ? elf_rawdata(elf_getscn(file->elf, found), NULL) : NULL;
}

// Checks that all sections together inflate to at most INFLATED_MAX bytes, and that they are
// compressed as the gABI specifies. libelf does the inflating. DWARF that dwz has split is
// rejected, because libdw would open another file whose name is stored in this one.
static bool check_sections(const struct elf_file *file)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        struct extract_cursor c = extract_cursor_make(s->bytes, s->length, file->order);
        extract_cursor_span(&c, file->word); // ch_type, and ch_reserved of 64 bits
        uint64_t size = s->flags & SHF_COMPRESSED ? extract_cursor_word(&c, file->word) : 0;
        if (size > INFLATED_MAX || size / MAX_DEFLATE > s->length ||
            strncmp(s->name, ".zdebug", 7) == 0 || strcmp(s->name, ".gnu_debugaltlink") == 0)
            return false;
        total += size;
    }
    return total <= INFLATED_MAX;
}

// Reads one table of abbreviations (7.5.3) up to its end or to damage, where libdw stops too.
// Returns false if an entry has more attributes than any compiler writes.
static bool check_abbrevs(struct extract_cursor *c)
{
    while (!c->failed && extract_cursor_left(c) && extract_dwarf_uleb(c)) {
        uint64_t name, form;
        unsigned count = 0;
        extract_dwarf_uleb(c); // tag
        extract_cursor_u8(c);  // children
        do {
            name = extract_dwarf_uleb(c);
            form = extract_dwarf_uleb(c);
            if (form == DW_FORM_implicit_const)
                extract_dwarf_uleb(c);
            if (++count > ATTRIBUTES_MAX)
                return false;
        } while ((name || form) && !c->failed);
    }
    return true;
}

struct checking {
    struct extract_dwarf *dwarf;
    Elf_Data *abbrevs;
    uint64_t units, bytes; // units and bytes of abbreviations so far
};

// Makes libdw load a unit and its abbreviations. libdw keeps them in hash tables, and if it cannot
// allocate one of these, it ends the process without calling the handler. Therefore all of them are
// filled here, and only after a test allocation shows that there is enough memory for their growth.
static bool load_unit(const struct checking *k, Dwarf_Off at, bool types, size_t abbrevs)
{
    // Volatile, because otherwise compilers remove an allocation that is only freed.
    void *volatile space = malloc(65536 + 32 * abbrevs + 64 * (size_t)k->units);
    Dwarf_Abbrev *abbrev;
    Dwarf_Die unit;
    size_t length, offset = 0;

    if (!space)
        return false;
    free(space);
    if (!(types ? dwarf_offdie_types : dwarf_offdie)(k->dwarf->dw, at, &unit))
        return true;
    while ((abbrev = dwarf_getabbrev(&unit, offset, &length)) && abbrev != DWARF_END_ABBREV)
        offset += length;
    return true;
}

// Checks and loads the units of .debug_info, or of .debug_types. The walk ends at damage, as that
// of libdw does.
static bool check_units(struct checking *k, bool types)
{
    struct extract_dwarf *d = k->dwarf;
    Dwarf_Off at = 0, next, abbrevs, type;
    size_t header;
    uint64_t signature;

    while (dwarf_next_unit(d->dw, at, &next, &header, NULL, &abbrevs, NULL, NULL,
                           types ? &signature : NULL, types ? &type : NULL) == 0) {
        struct extract_cursor c =
            extract_cursor_make(k->abbrevs->d_buf, k->abbrevs->d_size, d->file->order);
        extract_cursor_seek(&c, abbrevs);
        size_t start = c.at;
        if (next <= at || ++k->units > UNITS_MAX || !check_abbrevs(&c))
            return false;
        k->bytes += c.at - start;
        if (k->bytes > k->abbrevs->d_size + ABBREVS_MORE ||
            !load_unit(k, at + header, types, c.at - start))
            return false;
        d->largest = next - at > d->largest ? next - at : d->largest;
        at = next;
    }
    return true;
}

static bool check(void *context)
{
    struct checking *k = context;

    return check_units(k, false) && check_units(k, true);
}

struct extract_dwarf *extract_dwarf_open(const struct elf_file *file, bool zero_is_code)
{
    struct extract_dwarf *dwarf = check_sections(file) ? calloc(1, sizeof *dwarf) : NULL;

    if (!dwarf)
        return NULL;
    dwarf->file = file;
    dwarf->dw = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    if (!dwarf->dw) {
        free(dwarf);
        return NULL;
    }
    dwarf_new_oom_handler(dwarf->dw, out_of_memory);
    // From here on, compressed sections are inflated. The line tables are changed first, since
    // hostile sections may overlap with what is checked.
    bool done = extract_dwarf_tables(dwarf, zero_is_code);
    struct checking k = {.dwarf = dwarf, .abbrevs = extract_dwarf_data(file, ".debug_abbrev")};
    done = done && k.abbrevs && extract_dwarf_data(file, ".debug_info") &&
           extract_dwarf_run(&dwarf, check, &k);
    if (!done) {
        extract_dwarf_close(dwarf);
        return NULL;
    }
    return dwarf;
}

void extract_dwarf_close(struct extract_dwarf *dwarf)
{
    if (!dwarf)
        return;
    dwarf_end(dwarf->dw);
    free(dwarf->tables);
    free(dwarf);
}
#endif
