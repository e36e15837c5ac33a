# A package whose makefile has, before it includes package.mk,
#
#   -include $(TOPDIR)/feeds/litifut/litifut.mk
#
# is linked with a tracer inside when litifut is chosen in `make menuconfig` (Development). It is built again
# when it is chosen, left out, or its settings change.

PKG_BUILD_DEPENDS += PACKAGE_litifut:litifut/host
PKG_CONFIG_DEPENDS += CONFIG_PACKAGE_litifut CONFIG_LITIFUT_SETTINGS

ifneq ($(CONFIG_PACKAGE_litifut),)

# Calls in MIPS16 code cannot be traced.
PKG_BUILD_FLAGS += no-mips16

# gcc looks for its linker in COMPILER_PATH first.
export LITIFUT := 1
export COMPILER_PATH := $(STAGING_DIR)/host/lib/litifut/links
$(foreach setting,$(call qstrip,$(CONFIG_LITIFUT_SETTINGS)),\
	$(eval export $(firstword $(subst =, ,$(setting))) := \
		$(subst $$,$$$$,$(patsubst $(firstword $(subst =, ,$(setting)))=%,%,$(setting)))))

endif
