/** Names and ownership of rules, derived from the list of controllers. Patterns are POSIX extended regular expressions, valid for grep too. */
import { CONTROLLERS, METADATA_CONTROLLER, type ControllerDefinition } from './definitions.ts'

export type ControllerName = (typeof CONTROLLERS)[number]['name']
/** Controllers with rules. */
export type RulingController = Exclude<ControllerName, 'none'>

export const ADAPTBF = CONTROLLERS[0].name

/** Names in the order of menus; a non-empty tuple, which `z.enum` requires. */
export const CONTROLLER_NAMES = CONTROLLERS.map((c) => c.name) as [ControllerName, ...ControllerName[]]

export function definitionOf(name: ControllerName): ControllerDefinition {
  const found = CONTROLLERS.find((c) => c.name === name)
  if (!found) throw new Error(`no controller is called ${name}`)
  return found
}

/** Prefixes of the names of controllers' rules, for example `ab_`. */
export const RULE_PREFIXES: readonly string[] = [...CONTROLLERS, METADATA_CONTROLLER].flatMap((c) =>
  c.rulePrefix === null ? [] : [`${c.rulePrefix}_`],
)
/** Prefix of operators' rules on servers with the helper, and of rules without a given name. */
export const OPERATOR_PREFIX = 'sl_'
/** Prefix of temporary rules, used while another rule is replaced. */
export const HELPER_PREFIX = 'sluice_'

/** Names of controllers' rules: a prefix and ten hexadecimal digits, 13 of the 15 characters that Lustre allows. */
export const CONTROLLER_RULE = `(${RULE_PREFIXES.map((p) => p.slice(0, -1)).join('|')})_[0-9a-f]{10}`
export const OPERATOR_RULE = `${OPERATOR_PREFIX}[A-Za-z0-9_]{1,12}`
/** Name of a rule that temporarily replaces another one: seven digits of its hash. */
export const TEMPORARY_RULE = `${HELPER_PREFIX}[0-9a-f]{7}`
export const HELPER_RULE = `(${HELPER_PREFIX}rematch2?|${TEMPORARY_RULE})`

const matcher = (pattern: string): ((name: string) => boolean) => {
  const form = new RegExp(`^${pattern}$`)
  return (name) => form.test(name)
}

/** Ownership by name: rules of controllers, temporary rules, rules of operators. */
export const isControllerRule = matcher(CONTROLLER_RULE)
export const isHelperRule = matcher(HELPER_RULE)
export const isOperatorRule = matcher(OPERATOR_RULE)
export const isTemporaryRule = matcher(TEMPORARY_RULE)
