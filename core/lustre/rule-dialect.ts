/** What the releases differ in about NRS TBF: grammar, errors and printing of rules. */
import type { Release } from './release.ts'

export interface RuleDialect {
  /** Whether a rule of a single-type policy is printed with its field: `jobid={a}` rather than `{a}`. */
  readonly printsField: boolean
}

export const RULE_DIALECTS: Readonly<Record<Release, RuleDialect>> = {
  '2.12': { printsField: false },
  '2.15': { printsField: false },
  '2.16': { printsField: false },
  '2.17': { printsField: false },
  dev: { printsField: true },
}
