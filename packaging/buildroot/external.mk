include $(BR2_EXTERNAL_LITIFUT_PATH)/package/litifut/litifut.mk

# Chosen packages are linked by litifut-ld. The variables for that are there for all of Buildroot's
# commands, with values in those of a chosen package only, whose name is in PKG then. (Variables of a
# target would reach the packages that it needs, too: make 4.3 exports also those that are private.)
ifeq ($(BR2_PACKAGE_HOST_LITIFUT),y)

LITIFUT_PACKAGES = $(call qstrip,$(BR2_PACKAGE_HOST_LITIFUT_PACKAGES))
LITIFUT_SETTINGS = $(call qstrip,$(BR2_PACKAGE_HOST_LITIFUT_SETTINGS))
litifut-if-traced = $(if $(filter $(PKG),$(call UPPERCASE,$(LITIFUT_PACKAGES))),$(1),$(2))

define litifut-trace
$(if $(filter $(1),$(PACKAGES)),,$$(error BR2_PACKAGE_HOST_LITIFUT_PACKAGES: $(1): no package of this name is selected))
# for the folders of BR2_PER_PACKAGE_DIRECTORIES, and for the order
$(2)_DEPENDENCIES += host-litifut
$$($(2)_TARGET_CONFIGURE): | host-litifut
endef

$(foreach package,$(LITIFUT_PACKAGES),\
	$(eval $(call litifut-trace,$(package),$(call UPPERCASE,$(package)))))

# gcc takes an empty COMPILER_PATH for the current folder, and one that does not exist for none.
export LITIFUT = $(call litifut-if-traced,1)
export COMPILER_PATH = $(HOST_DIR)/lib/litifut/$(call litifut-if-traced,links,none)
$(foreach setting,$(LITIFUT_SETTINGS),\
	$(eval export $(firstword $(subst =, ,$(setting))) = \
		$$(call litifut-if-traced,$(subst $$,$$$$,$(subst $(firstword $(subst =, ,$(setting)))=,,$(setting))))))

endif
