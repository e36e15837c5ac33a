# Links the recipes that LITIFUT_RECIPES names with a tracer inside; docs/recipes.md says how it is used.
#
#   LITIFUT_RECIPES   names of recipes, with blanks between them
#   LITIFUT_SETTINGS  variables for litifut-ld(1), as NAME=VALUE, with blanks between them
#
# gcc looks for its linker in COMPILER_PATH first: the folder has the names of linkers, as `litifut build`
# makes one. All of this is exported, so that a task runs again when a setting is another.

LITIFUT_RECIPES ??= ""
LITIFUT_SETTINGS ??= ""

python () {
    if d.getVar('PN') not in d.getVar('LITIFUT_RECIPES').split():
        return
    if not bb.utils.contains('CLASSOVERRIDE', 'class-target', True, False, d):
        bb.fatal('LITIFUT_RECIPES: %s is not a recipe for the target' % d.getVar('PN'))
    exported = {'LITIFUT': '1', 'COMPILER_PATH': '${STAGING_DIR_NATIVE}${prefix_native}/lib/litifut/links'}
    for setting in d.getVar('LITIFUT_SETTINGS').split():
        name, equals, value = setting.partition('=')
        if not equals or not name.startswith('LITIFUT_'):
            bb.fatal('LITIFUT_SETTINGS: %s is not LITIFUT_NAME=VALUE' % setting)
        exported[name] = value
    for name, value in exported.items():
        d.setVar(name, value)
        d.setVarFlag(name, 'export', '1')
    d.appendVar('DEPENDS', ' litifut-cross-${TARGET_ARCH}')
}
