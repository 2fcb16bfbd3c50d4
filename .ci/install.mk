# SPDX-License-Identifier: MIT
# make install and make uninstall, with PREFIX and DESTDIR. Both use the same list of files.

.PHONY: install uninstall
STAGE := $(DESTDIR)$(PREFIX)

# SOURCE:TARGET under the prefix. Mode 755 is for files that are executed or loaded, 644 for all
# others.
INSTALL_755 := $(PROGRAM):bin/$(notdir $(PROGRAM)) \
  $(BUILD)/$(SOFILE):lib/$(SOFILE) \
  $(foreach f,$(filter %.so,$(READER)),$(f):lib/ringside/$(notdir $(f)))
INSTALL_644 := $(BUILD)/libextract.a:lib/libextract.a \
  $(foreach f,$(HEADERS),$(f):$(f:libextract/%=%)) \
  $(foreach f,$(MANUALS),$(f):share/man/man$(patsubst .%,%,$(suffix $(f)))/$(notdir $(f)))
# The recorder for firmware. Its part for Linux is in the library.
INSTALL_644 += $(foreach f,$(filter-out %/linux.h %/linux_core.h,$(sort $(wildcard \
  libextract/recorder/target/*.h libextract/recorder/target/ringside_trace.c \
  libextract/recorder/target/ports/*.h))),\
  $(f):share/ringside/$(f:libextract/recorder/%=%))
INSTALL_644 += $(foreach f,$(sort $(wildcard docs/examples/posix/*.h \
  docs/examples/posix/*/*.[ch])),\
  $(f):$(f:docs/%=share/ringside/%))
INSTALL_644 += $(foreach f,$(TEMPLATES),$(f):share/ringside/$(notdir $(f)))
INSTALL_644 += libextract/reading/formats/hook/aix.roles:share/ringside/aix.roles
INSTALL_644 += qemu-tests/demo.fmt:share/ringside/examples/demo.fmt
# If OpenOCD has the same prefix, `source [find ringside.tcl]` finds these files.
INSTALL_644 += $(foreach f,$(sort $(wildcard openocd-tcl/*.tcl)),\
  $(f):share/openocd/site/$(notdir $(f)))
# Functions that share a man page with another function: NAME.3:PAGE.3, from the pages' first
# sections.
MAN_LINKS := $(if $(MANUALS),$(shell awk -f .ci/man-links.awk $(filter %.3.scd,$(MAN_PAGES))))
# The libraries that a statically linked program needs in addition to libextract.
STATIC_LIBS = $(or $(shell pkg-config --static --libs $(if $(filter 1,$(HAVE_DW)),libdw) libelf \
  $(if $(filter 1,$(HAVE_SQLITE)),sqlite3) \
  $(if $(filter 1,$(HAVE_ZLIB)),zlib) \
  2>/dev/null && echo -pthread),$(LIBS))
# Links and files that depend on the prefix.
INSTALL_MADE := lib/$(SONAME) lib/libextract.so lib/pkgconfig/libextract.pc \
  share/ringside/ringside.gdb \
  $(foreach l,$(MAN_LINKS),share/man/man3/$(firstword $(subst :, ,$(l))))
target_of = $(word 2,$(subst :, ,$(1)))
INSTALLED := $(foreach p,$(INSTALL_755) $(INSTALL_644),$(call target_of,$(p))) $(INSTALL_MADE)
# Directories that uninstall removes if they are empty.
INSTALL_FOLDERS := lib/ringside share/ringside/examples/posix/parts \
  share/ringside/examples/posix/roles share/ringside/examples/posix share/ringside/examples \
  share/ringside/target/ports share/ringside/target share/ringside \
  include/extract/posix include/extract \
  share/openocd/site/interface share/openocd/site share/openocd

install: all
	@$(foreach p,$(INSTALL_755),install -Dm755 $(subst :, "$(STAGE)/,$(p))" &&) \
	$(foreach p,$(INSTALL_644),install -Dm644 $(subst :, "$(STAGE)/,$(p))" &&) :
	@ln -sf $(SOFILE) "$(STAGE)/lib/$(SONAME)" && ln -sf $(SONAME) "$(STAGE)/lib/libextract.so"
	@mkdir -p "$(STAGE)/lib/pkgconfig" "$(STAGE)/share/ringside"
	@$(foreach l,$(MAN_LINKS),echo '.so man3/$(call target_of,$(l))' \
	  > "$(STAGE)/share/man/man3/$(firstword $(subst :, ,$(l)))" &&) :
	@sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' \
	  -e 's|@LIBS@|$(strip $(STATIC_LIBS))|' \
	  libextract/libextract.pc.in > "$(STAGE)/lib/pkgconfig/libextract.pc"
	@sed 's|@READER@|$(PREFIX)/lib/ringside/ringside-reader.so|g' gdb-reader/ringside.gdb.in \
	  > "$(STAGE)/share/ringside/ringside.gdb"
	@$(if $(PLUGIN),install -Dm755 $(PLUGIN) "$(INSTALLED_PLUGIN)")
	@chmod 644 "$(STAGE)/lib/pkgconfig/libextract.pc" "$(STAGE)/share/ringside/ringside.gdb"
	@echo "installed under $(STAGE); in GDB: source $(PREFIX)/share/ringside/ringside.gdb"
	@$(if $(PLUGIN),echo "in babeltrace2: the plug-in is $(INSTALLED_PLUGIN)")
	@echo "in OpenOCD: openocd -s $(PREFIX)/share/openocd/site (not needed if OpenOCD has this prefix)"

uninstall:
	@cd "$(STAGE)" && rm -f $(INSTALLED) && for d in $(INSTALL_FOLDERS); do \
	  rmdir "$$d" 2>/dev/null; done; :
	@$(if $(PLUGIN),rm -f "$(INSTALLED_PLUGIN)"; cd "$(dir $(INSTALLED_PLUGIN))" 2>/dev/null && \
	  rmdir ../plugins ../../babeltrace2 2>/dev/null; :)
