/**
 * Advances: rules of Sluice that go beyond a published system, each under its own name and off by default. Each is
 * declared once, here. Papers, documentation and menus derive from this list; `core/papers/advances` measures each beside
 * the paper's rule. It is selected by its setting (`setting`), in the window, in scenarios and on the command line.
 */

export interface Advance {
  /** System and name, for example `padll.psfa-adaptive`; its claims are `advances.padll.psfa-adaptive.*`. */
  readonly name: string
  readonly title: string
  /** Weakness of the paper's rule and the answer, one sentence. */
  readonly summary: string
  /** Setting that selects it, as in a scenario. */
  readonly setting: string
  /** Rule of the paper that it replaces. */
  readonly original: string
  /** Page in `docs/`. */
  readonly page: string
  /** Event text of the return to the paper's rule: the inputs that it lacks. */
  readonly fallback: string
}

export const PSFA_ADAPTIVE = {
  name: 'padll.psfa-adaptive',
  title: 'PSFA with learnt headroom',
  summary:
    'PSFA shares the rest of the limit by usage, so idle jobs hold rate that others wait for; here it follows the expected load and its volatility.',
  setting: 'padll.algorithm: psfa-adaptive',
  original: 'PSFA, epsilon 0.25',
  page: 'advances/psfa-adaptive.md',
  fallback: 'psfa-adaptive is replaced by PSFA, because the operations that wait are not reported',
} as const satisfies Advance

export const HAECHI_DEADLINE = {
  name: 'haechi.deadline',
  title: 'Reservations in every period',
  summary:
    'Clients with small reservations drain the pool while large ones are still owed; here tokens of the pool wait until what is reserved finishes in time.',
  setting: 'conversion: deadline',
  original: 'conversion by the ledger, the same window for every client',
  page: 'advances/haechi-deadline.md',
  fallback: 'deadline is replaced by ledger, because a client does not report the tokens that it has left',
} as const satisfies Advance

export const HAECHI_EVIDENCE = {
  name: 'haechi.evidence',
  title: 'Capacity estimate by saturation',
  summary:
    'The estimate takes low use for low demand below three sigma, and for lost capacity above; here only the throughput of a saturated node counts.',
  setting: 'estimator.rule: evidence',
  original: 'estimate with the lower bound of three sigma',
  page: 'advances/haechi-evidence.md',
  fallback: 'evidence is replaced by the rule of three sigma, because a client does not report if its requests wait',
} as const satisfies Advance

export const ADVANCES: readonly Advance[] = [PSFA_ADAPTIVE, HAECHI_DEADLINE, HAECHI_EVIDENCE]
