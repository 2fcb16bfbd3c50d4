# SPDX-License-Identifier: MIT
# Ringside: how everything is built, tested and installed. `make help` lists the targets.
#
# This file has the settings and flags. Each directory has its own rules in its build.mk.

VERSION  := 0.1.0
SOVERSION := 0

# Settings of the user.
CC       ?= cc
ifeq ($(origin CC),default)
CC       := gcc
endif
CFLAGS   ?= -O2 -g
LDFLAGS  ?=
PREFIX   ?= /usr/local
DESTDIR  ?=
V        ?= 0
BUILD    ?= build
SANITIZE ?=

SHELL       := /bin/sh
MAKEFLAGS   += --no-builtin-rules
.DELETE_ON_ERROR:
.SUFFIXES:

# V=1 prints the commands. Otherwise make prints one short line per file.
ifeq ($(V),1)
Q   :=
say  = @:
else
Q   := @
say  = @printf '  %-5s %s\n' $(1) $(2)
endif

# libelf is required. libdw (file:line, types) is used if it is installed; HAVE_DW=0 builds without
# it.
links = $(shell printf '\043include <libelf.h>\n\043include $(1)\nint main(void){return 0;}\n' | \
          $(CC) -x c - -o /dev/null $(2) 2>/dev/null && echo 1)
ifndef HAVE_ELF
ifndef HAVE_DW
HAVE_DW  := $(call links,<elfutils/libdw.h>,-ldw -lelf)
endif
HAVE_ELF := $(if $(filter 1,$(HAVE_DW)),1,$(call links,<gelf.h>,-lelf))
endif
# SQLite is used if it is installed; HAVE_SQLITE=0 builds without it.
ifndef HAVE_SQLITE
HAVE_SQLITE := $(call links,<sqlite3.h>,-lsqlite3)
endif
# zlib compresses what pages hold, if it is installed; HAVE_ZLIB=0 builds without it.
ifndef HAVE_ZLIB
HAVE_ZLIB := $(call links,<zlib.h>,-lz)
endif
export HAVE_DW HAVE_ELF HAVE_SQLITE HAVE_ZLIB

WARNINGS  := -Wall -Wextra -Wconversion -Wshadow
DEFINES   := $(if $(filter 1,$(HAVE_DW)),-DEXTRACT_HAVE_DW=1) \
             $(if $(filter 1,$(HAVE_SQLITE)),-DEXTRACT_HAVE_SQLITE=1) \
             $(if $(filter 1,$(HAVE_ZLIB)),-DEXTRACT_HAVE_ZLIB=1) \
             -DEXTRACT_VERSION='"$(VERSION)"'
# A room is named without its storey in includes.
STOREYS   := recorder reading meaning showing program
INCLUDES  := -Ilibextract/include -Ilibextract $(STOREYS:%=-Ilibextract/%) -I$(BUILD)/gen
LIBS      := $(if $(filter 1,$(HAVE_DW)),-ldw) -lelf \
             $(if $(filter 1,$(HAVE_SQLITE)),-lsqlite3) \
             $(if $(filter 1,$(HAVE_ZLIB)),-lz) -lm -pthread
SANITIZER := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer \
               -fno-sanitize-recover=undefined)
# glibc does not fortify unoptimized code, and sanitizers do the same work better.
FORTIFY   := $(if $(SANITIZE),,$(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),\
               -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
COMPILE   := $(strip $(CC) -std=gnu11 $(WARNINGS) $(DEFINES) $(INCLUDES) -fPIC \
               -fvisibility=hidden -fstack-protector-strong $(FORTIFY) $(SANITIZER) \
               $(CPPFLAGS) $(CFLAGS))
HARDEN    := -Wl,-z,relro,-z,now,-z,noexecstack
LINK      := $(strip $(CC) $(SANITIZER) $(HARDEN) $(CFLAGS) $(LDFLAGS))

.PHONY: all help clean setup demo gallery FORCE
all:

include libextract/build.mk
include gdb-reader/build.mk
include libextract/program/babeltrace/build.mk
include qemu-tests/probe/build.mk
include libextract/tests/tests.mk
include .ci/install.mk
include qemu-tests/firmware.mk

all: $(LIBRARIES) $(PROGRAM) $(READER) $(PLUGIN) $(MANUALS)

# Compiles a C file. If flags or compiler change, $(BUILD)/flags changes, and all files are
# compiled.
$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c $< -o $@

# Rewrites a stamp file only if its text changes: $(call stamp,TEXT)
stamp = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || \
          printf '%s\n' '$(subst ','\'',$(1))' > $@

$(BUILD)/flags: FORCE
	$(if $(HAVE_ELF),,$(error libelf not found, which Ringside needs to read ELF files; \
	  run `make setup` (Debian: apt-get install libelf-dev libdw-dev)))
	$(call stamp,$(COMPILE) | $(LINK) | $(LIBS))

setup:
	@.ci/setup.sh $(or $(SET),build)

demo:
	@.ci/setup.sh demo
	@$(SUBMAKE) all build/firmware/demo-cortex-m3.elf
	@qemu-tests/demo.sh

gallery: all
	@BUILD=$(BUILD) .ci/gallery.sh docs

clean:
	rm -rf build

help:
	@cat .ci/help.txt

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
