// SPDX-License-Identifier: MIT
// fuzz: the directory that OpenOCD's `ringside crash` writes. The input is its manifest, up to a
// byte 0; the rest is its file of registers. The directory also holds an image, a.bin.
//
// Nothing may crash, leak or hang. In addition, the memory has no other bytes than those of the
// image.
#include "registers/registers_room.h"
#include "memory/memory_hooks.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <extract/memory.h>
#include <extract/registers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { IMAGE = 64 };

static char directory[] = "/tmp/fuzz-folder.XXXXXX";

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void put(const char *name, const void *bytes, size_t length)
{
    char path[64];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    check(file && fwrite(bytes, 1, length, file) == length && !fclose(file));
}

static void remove_directory(void)
{
    static const char *const names[] = {"a.bin", "manifest.txt", "registers.txt"};
    char path[64];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    rmdir(directory);
}

// An ELF file without sections, for a machine whose registers are known.
static struct extract_symbols *open_symbols(void)
{
    const Elf32_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_ARM,
        .e_version = EV_CURRENT,
        .e_ehsize = sizeof header};
    struct extract_symbols *symbols;

    check(!extract_symbols_open_bytes(&symbols, "stub", &header, sizeof header, NULL));
    return symbols;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct extract_symbols *symbols;
    struct extract_registers cores[EXTRACT_CORES];
    struct extract_memory *memory;
    struct extract_region region;
    struct extract_error error;
    const uint8_t image[IMAGE] = {0};

    if (!symbols) {
        symbols = open_symbols();
        check(mkdtemp(directory) != NULL);
        atexit(remove_directory);
        put("a.bin", image, sizeof image);
    }
    const uint8_t *end = memchr(data, 0, size);
    size_t manifest = end ? (size_t)(end - data) : size;
    put("manifest.txt", data, manifest);
    put("registers.txt", data + manifest, size - manifest);
    check(!extract_memory_new_images(&memory, NULL));
    enum extract_code code = extract_memory_add_folder(memory, directory, &error);
    check(!code || (error.what[0] && error.why[0]));
    for (size_t i = 0; extract_memory_region(memory, i, &region); i++)
        check(region.length == IMAGE);
    char *registers = extract_memory_folder_registers(directory);
    size_t count = 0;
    check(registers);
    code = extract_registers_read(cores, &count, memory, symbols, registers, &error);
    check(code ? error.what[0] && error.why[0] : count <= EXTRACT_CORES);
    free(registers);
    extract_memory_close(memory);
    return 0;
}
