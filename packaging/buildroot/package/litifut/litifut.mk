################################################################################
#
# litifut
#
################################################################################

# This external tree is a folder of LITIFUT's sources.
LITIFUT_SITE = $(BR2_EXTERNAL_LITIFUT_PATH)/../..
LITIFUT_SITE_METHOD = local
LITIFUT_LICENSE = MIT
LITIFUT_LICENSE_FILES = LICENSE
HOST_LITIFUT_OVERRIDE_SRCDIR_RSYNC_EXCLUSIONS = --exclude /build

# The tracer is compiled by the compiler of the target.
HOST_LITIFUT_DEPENDENCIES = toolchain

# Libraries are those of the build machine, so nothing of Buildroot's is in the way of compiler and
# linker; at run time they may be Buildroot's, if it has made them for others.
HOST_LITIFUT_OPTIONS = CC="$(HOSTCC)" LDFLAGS="-Wl,-rpath,$(HOST_DIR)/lib" PREFIX="$(HOST_DIR)"
ifeq ($(BR2_arm),y)
HOST_LITIFUT_OPTIONS += CPUS=arm TRACER_TOOL_arm="$(TARGET_CROSS)" TRACER_TOOL_armv7="$(TARGET_CROSS)"
else ifeq ($(BR2_mips),y)
HOST_LITIFUT_OPTIONS += CPUS=mips TRACER_TOOL_mips="$(TARGET_CROSS)"
else
HOST_LITIFUT_OPTIONS += CPUS=mipsel TRACER_TOOL_mipsel="$(TARGET_CROSS)"
endif

HOST_LITIFUT_HEADERS = archive.h capstone/capstone.h elfutils/libdw.h gelf.h \
	libiberty/libiberty.h ncurses.h sqlite3.h zlib.h

define HOST_LITIFUT_CONFIGURE_CMDS
	@for header in $(HOST_LITIFUT_HEADERS); do \
		echo "#include <$$header>" | $(HOSTCC) -include stdio.h -fsyntax-only -xc - 2>/dev/null || { \
			echo "litifut: the build machine has no $$header" >&2; exit 1; }; \
	done
endef

define HOST_LITIFUT_BUILD_CMDS
	$(MAKE) -C $(@D) $(HOST_LITIFUT_OPTIONS)
endef

# The folder has the names of linkers that gcc looks for, as `litifut build` makes one.
define HOST_LITIFUT_INSTALL_CMDS
	$(MAKE) -C $(@D) $(HOST_LITIFUT_OPTIONS) install
	mkdir -p $(HOST_DIR)/lib/litifut/links
	for name in ld ld.bfd ld.gold ld.lld ld.mold real-ld; do \
		ln -sf ../../../bin/litifut-ld $(HOST_DIR)/lib/litifut/links/$$name || exit 1; \
	done
endef

$(eval $(host-generic-package))
