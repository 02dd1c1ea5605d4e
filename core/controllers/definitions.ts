/**
 * Controllers of Sluice. Each is declared once, here; its factory is in `adaptbf/make-controller.ts`. Scenarios, the contract, menus,
 * the command line, rule names, the stop script and redaction derive from this list (`registry.ts`).
 */

export interface ControllerDefinition {
  /** Name in scenarios, in the contract and on the command line. */
  readonly name: string
  readonly title: string
  /** Short description for menus and for the summary of a variant. */
  readonly summary: string
  /** Description in the form of a variant, one sentence. */
  readonly about: string
  /** Prefix of its rules' names, two letters; null for a controller without rules. */
  readonly rulePrefix: string | null
}

/** Controllers of OST bandwidth, in the order of menus. */
export const CONTROLLERS = [
  {
    name: 'adaptbf',
    title: 'AdapTBF',
    summary: 'lends and borrows tokens per OST',
    about: 'Shares by node count; unused tokens are lent and reclaimed.',
    rulePrefix: 'ab',
  },
  {
    name: 'static',
    title: 'Static',
    summary: 'fixed shares by node count',
    about: 'Every job gets a fixed share by node count, used or not.',
    rulePrefix: 'st',
  },
  {
    name: 'none',
    title: 'None',
    summary: 'no rules on OSTs',
    about: 'No controller limits OSTs; all other rules still apply.',
    rulePrefix: null,
  },
] as const satisfies readonly ControllerDefinition[]

/** The controller of metadata, whose algorithms are PADLL's. */
export const METADATA_CONTROLLER = { title: 'PADLL', rulePrefix: 'pd' } as const
