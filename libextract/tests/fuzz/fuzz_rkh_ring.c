// SPDX-License-Identifier: MIT
// fuzz: the memory of a target that may contain RKH's ring, and an ELF that locates it. The ring's
// words may point anywhere, and its array may contain any bytes. The target is halted, or changes
// between any two reads. The ring is found, copied, decoded, reported in every form, saved and
// opened again.
//
// Nothing may crash, leak or hang. In addition, all frames together are no longer than the array,
// and each is accounted for. Each reported frame has a right checksum and complete arguments. No
// text controls a terminal, and the saved ring shows the same events.
//
// The input is a struct input and the bytes of the array. The ELF states the array's size, which
// may differ from the number of these bytes.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/trace_checks.h"
#include "symbols/dwarf.h"
#include <elf.h>

enum {
    RAM = 0x20000000,
    ARRAY = RAM + 0x100,
    RAM_BYTES = 0x11000,
    IN_AT = RAM,
    OUT_AT = RAM + 8,
    QTY_AT = RAM + 16,
    CHK_AT = RAM + 24,
    FAR = 0x80 // distance of words that one read does not cover
};

enum { WIDE = 1, BIG = 2, RUNS = 4, SCATTERED = 8, NO_CHK = 16, TEXT = 32, VIEW = 6 };

struct input {
    uint8_t bits;          // the enum above; from VIEW on: enum extract_rkh_view
    uint8_t sizes;         // sizes of trcqty and of the pointers in the ELF
    uint8_t settings[2];   // bits for rkh_set_up
    uint8_t array[2];      // size of the array
    uint8_t in[4], out[4]; // distance from the array's start
    uint8_t qty[2], chk;
    uint8_t step; // distance between two changes of a running target
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t number(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    while (count--)
        value = value << 8 | bytes[count];
    return value;
}

// ---- The ELF ----

struct image {
    uint8_t bytes[1024];
    size_t length;
    bool wide, big;
};

static void put(struct image *image, uint64_t value, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        image->bytes[image->length++] = (uint8_t)(value >> 8 * (image->big ? count - 1 - i : i));
}

static void put_word(struct image *image, uint64_t value)
{
    put(image, value, image->wide ? 8 : 4);
}

static void put_header(struct image *image, size_t sections)
{
    const uint8_t identity[EI_NIDENT] = {0x7F,
                                         'E',
                                         'L',
                                         'F',
                                         image->wide ? ELFCLASS64 : ELFCLASS32,
                                         image->big ? ELFDATA2MSB : ELFDATA2LSB,
                                         EV_CURRENT};
    memcpy(image->bytes, identity, sizeof identity);
    image->length = sizeof identity;
    put(image, ET_EXEC, 2);
    put(image, EM_NONE, 2);
    put(image, EV_CURRENT, 4);
    put_word(image, 0);
    put_word(image, 0);
    put_word(image, image->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
    put(image, 0, 4);
    put(image, image->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
    put(image, 0, 2);
    put(image, 0, 2);
    put(image, image->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
    put(image, sections, 2);
    put(image, sections - 1, 2);
}

static void put_section(struct image *image, const Elf64_Shdr *section)
{
    put(image, section->sh_name, 4);
    put(image, section->sh_type, 4);
    put_word(image, section->sh_flags);
    put_word(image, section->sh_addr);
    put_word(image, section->sh_offset);
    put_word(image, section->sh_size);
    put(image, section->sh_link, 4);
    put(image, section->sh_info, 4);
    put_word(image, 1);
    put_word(image, section->sh_entsize);
}

static void put_symbol(struct image *image, uint64_t name, uint64_t address, uint64_t size)
{
    bool known = name != 0;
    put(image, name, 4);
    if (!image->wide) {
        put(image, address, 4);
        put(image, size, 4);
    }
    put(image, known ? ELF64_ST_INFO(STB_LOCAL, STT_OBJECT) : 0, 1);
    put(image, 0, 1);
    put(image, known, 2);
    if (image->wide) {
        put(image, address, 8);
        put(image, size, 8);
    }
}

// Returns the address of a word, which is close to the other words or far from them.
static uint64_t word_at(const struct input *input, uint64_t at)
{
    return input->bits & SCATTERED ? RAM + RAM_BYTES - FAR + (at - RAM) / 8 * FAR / 4 : at;
}

static struct extract_symbols *make_symbols(const struct input *input)
{
    static const char names[] = "\0trcstm\0trcin\0trcout\0trcqty\0chk\0.bss";
    static const uint8_t sizes[] = {0, 1, 2, 4, 8, 3, 2, 4};
    struct image image = {.wide = input->bits & WIDE, .big = input->bits & BIG};
    size_t head = image.wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
    size_t entry = image.wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    size_t tables = head + 4 * (image.wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
    uint64_t pointer = sizes[input->sizes >> 4 & 7], entries = input->bits & NO_CHK ? 5 : 6;
    const Elf64_Shdr sections[] = {
        {0},
        {.sh_name = 33,
         .sh_type = SHT_NOBITS,
         .sh_flags = SHF_ALLOC | SHF_WRITE,
         .sh_addr = RAM,
         .sh_size = RAM_BYTES},
        {.sh_type = SHT_SYMTAB,
         .sh_offset = tables,
         .sh_size = entries * entry,
         .sh_link = 3,
         .sh_info = (Elf64_Word)entries,
         .sh_entsize = entry},
        {.sh_type = SHT_STRTAB, .sh_offset = tables + entries * entry, .sh_size = sizeof names}};
    struct extract_symbols *symbols;
    put_header(&image, 4);
    for (size_t i = 0; i < 4; i++)
        put_section(&image, &sections[i]);
    put_symbol(&image, 0, 0, 0);
    put_symbol(&image, 1, ARRAY, number(input->array, 2));
    put_symbol(&image, 8, word_at(input, IN_AT), pointer);
    put_symbol(&image, 14, word_at(input, OUT_AT), pointer);
    put_symbol(&image, 21, word_at(input, QTY_AT), sizes[input->sizes & 7]);
    if (entries == 6)
        put_symbol(&image, 28, word_at(input, CHK_AT), 1);
    memcpy(image.bytes + image.length, names, sizeof names);
    image.length += sizeof names;
    check(!extract_symbols_open_bytes(&symbols, "fuzz.elf", image.bytes, image.length, NULL));
    return symbols;
}

// ---- The target ----

static struct target {
    const struct input *input;
    uint8_t bytes[RAM_BYTES];
    size_t length; // bytes of the array that exist
    unsigned reads;
} target;

static size_t read_target(void *context, uint64_t address, void *buffer, size_t length)
{
    (void)context;
    uint64_t offset = address - RAM;
    if (address < RAM || offset >= RAM_BYTES)
        return 0;
    size_t got = length < RAM_BYTES - offset ? length : RAM_BYTES - (size_t)offset;
    memcpy(buffer, target.bytes + offset, got);
    target.reads++;
    if (target.input->bits & RUNS) {
        target.bytes[ARRAY - RAM + target.reads * target.input->step % (target.length + 1)]++;
        target.bytes[word_at(target.input, target.reads % 2 ? IN_AT : QTY_AT) - RAM]++;
    }
    return got;
}

// Stores a word of up to 8 bytes in the target's byte order. If the ELF has a smaller size, the
// first bytes count.
static void store(uint64_t at, uint64_t value, unsigned bytes)
{
    bool big = target.input->bits & BIG;
    for (unsigned i = 0; i < bytes; i++)
        target.bytes[word_at(target.input, at) - RAM + i] =
            (uint8_t)(value >> 8 * (big ? bytes - 1 - i : i));
}

static uint64_t pointer_of(const uint8_t distance[4])
{
    uint64_t value = number(distance, 4);
    if (value == UINT32_MAX)
        return 0; // the value before rkh_trc_init
    return ARRAY + (value ^ 0x80000000u) - 0x80000000u;
}

static void set_target(const struct input *input, const uint8_t *array, size_t length)
{
    unsigned word = input->bits & WIDE ? 8 : 4;
    memset(&target, 0, sizeof target);
    target.input = input;
    target.length = length < 0x10000 ? length : 0x10000;
    if (target.length)
        memcpy(target.bytes + (ARRAY - RAM), array, target.length);
    store(IN_AT, pointer_of(input->in), word);
    store(OUT_AT, pointer_of(input->out), word);
    store(QTY_AT, number(input->qty, 2), 2);
    store(CHK_AT, input->chk, 1);
}

// ---- The checks ----

// Checks that the saved ring shows the same events if it is read with the settings that were found.
static void check_dump(const struct extract_trace *trace)
{
    struct extract_rkh rkh = {0};
    struct extract_session_options options = {.size = sizeof options, .format = "rkh", .rkh = &rkh};
    const struct extract_rkh *found = &extract_trace_snapshot(trace)->ring.rkh;
    struct extract_session *session;
    struct extract_memory *memory;
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    check(!extract_export_ring(&text, trace, NULL));
    check(!extract_rkh_dump_open(&memory, file_of((const uint8_t *)text.data, text.used), NULL));
    rkh.view = found->view;
    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
        rkh_set(&rkh, (enum extract_rkh_key)key, found->value[key], EXTRACT_RKH_USER);
    check(!extract_session_open(&session, memory, NULL, &options, NULL));
    if (found->layouts == 1)
        check_same(trace, extract_session_trace(session));
    extract_session_close(session);
    extract_memory_close(memory);
    extract_text_free(&text);
}

static void look(struct extract_memory *memory, struct extract_symbols *symbols,
                 const struct input *input)
{
    struct extract_rkh rkh = {.view = (uint8_t)((input->bits >> VIEW) % 3)};
    struct extract_session_options options = {
        .size = sizeof options, .format = "rkh", .rkh = &rkh, .json = !(input->bits & TEXT)};
    struct extract_session *session;
    struct extract_error error = {0};
    rkh_set_up(&rkh, number(input->settings, 2));
    enum extract_code code = extract_session_open(&session, memory, symbols, &options, &error);
    check(!code == !!session);
    check(!code || (error.code == code && error.what[0] && error.why[0]));
    if (session) {
        const struct extract_trace *trace = extract_session_trace(session);
        check(extract_trace_snapshot(trace)->ring.address == ARRAY);
        run_rkh_verbs(session);
        check_info(trace);
        check_rkh_names(trace);
        check_rkh_frames(trace);
        check_dump(trace);
    }
    extract_session_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input;
    struct extract_memory *memory = NULL;
    if (size < sizeof input)
        return 0;
    memcpy(&input, data, sizeof input);
    set_target(&input, data + sizeof input, size - sizeof input);
    struct extract_memory_source source = {.read = read_target, .running = input.bits & RUNS};
    struct extract_symbols *symbols = make_symbols(&input);
    check(!extract_memory_new(&memory, &source, NULL));
    look(memory, symbols, &input);
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    return 0;
}
