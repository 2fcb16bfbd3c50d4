# SPDX-License-Identifier: MIT
# make install / uninstall, with PREFIX and DESTDIR. Both work from the same list of files.

.PHONY: install uninstall
STAGE := $(DESTDIR)$(PREFIX)

# SOURCE:TARGET under the prefix; 755 for what is executed or loaded, 644 for the rest.
INSTALL_755 := $(PROGRAM):bin/$(notdir $(PROGRAM)) \
  $(PROBE):bin/$(notdir $(PROBE)) \
  $(BUILD)/$(SOFILE):lib/$(SOFILE) \
  $(foreach f,$(filter %.so,$(READER)),$(f):lib/ringside/$(notdir $(f)))
INSTALL_644 := $(BUILD)/libextract.a:lib/libextract.a \
  $(foreach f,$(HEADERS),$(f):include/extract/$(notdir $(f))) \
  $(foreach f,$(MANUALS),$(f):share/man/man$(patsubst .%,%,$(suffix $(f)))/$(notdir $(f)))
INSTALL_644 += $(foreach f,$(TEMPLATES),$(f):share/ringside/$(notdir $(f)))
INSTALL_644 += qemu-tests/demo.fmt:share/ringside/examples/demo.fmt
# OpenOCD finds it with `source [find ringside.tcl]` when both have the same prefix.
INSTALL_644 += $(foreach f,$(sort $(wildcard openocd-tcl/*.tcl)),\
  $(f):share/openocd/site/$(notdir $(f)))
INSTALL_644 += qemu-tests/probe/probe.cfg:share/openocd/site/interface/ringside-probe.cfg
INSTALL_644 += qemu-tests/probe/riscv.cfg:share/openocd/site/interface/ringside-probe-riscv.cfg
# Links and files that are made for the prefix.
INSTALL_MADE := lib/$(SONAME) lib/libextract.so lib/pkgconfig/libextract.pc \
  share/ringside/ringside.gdb
target_of = $(word 2,$(subst :, ,$(1)))
INSTALLED := $(foreach p,$(INSTALL_755) $(INSTALL_644),$(call target_of,$(p))) $(INSTALL_MADE)
# Folders that leave with us when they are empty.
INSTALL_FOLDERS := lib/ringside share/ringside/examples share/ringside include/extract \
  share/openocd/site/interface share/openocd/site share/openocd

install: all
	@$(foreach p,$(INSTALL_755),install -Dm755 $(subst :, "$(STAGE)/,$(p))" &&) \
	$(foreach p,$(INSTALL_644),install -Dm644 $(subst :, "$(STAGE)/,$(p))" &&) :
	@ln -sf $(SOFILE) "$(STAGE)/lib/$(SONAME)" && ln -sf $(SONAME) "$(STAGE)/lib/libextract.so"
	@mkdir -p "$(STAGE)/lib/pkgconfig" "$(STAGE)/share/ringside"
	@sed -e 's|@PREFIX@|$(PREFIX)|; s|@VERSION@|$(VERSION)|' \
	  -e 's|@LIBS@|$(LIBS)|' \
	  libextract/libextract.pc.in > "$(STAGE)/lib/pkgconfig/libextract.pc"
	@sed 's|@READER@|$(PREFIX)/lib/ringside/ringside-reader.so|g' gdb-reader/ringside.gdb.in \
	  > "$(STAGE)/share/ringside/ringside.gdb"
	@chmod 644 "$(STAGE)/lib/pkgconfig/libextract.pc" "$(STAGE)/share/ringside/ringside.gdb"
	@echo "installed under $(STAGE); in GDB: source $(PREFIX)/share/ringside/ringside.gdb"
	@echo "in OpenOCD: openocd -s $(PREFIX)/share/openocd/site (Debian's finds that of /usr itself)"

uninstall:
	@cd "$(STAGE)" && rm -f $(INSTALLED) && for d in $(INSTALL_FOLDERS); do \
	  rmdir "$$d" 2>/dev/null; done; :
