/** Terms of the Tokens view: meaning, unit, formula and source. */
import type { TokensPreset, TokensVariant } from '#core/api/tokens.ts'

export interface Term {
  readonly id: string
  readonly name: string
  readonly unit: string
  readonly means: string
  readonly formula: string
  readonly source: string
}
const term = (id: string, name: string, unit: string, means: string, formula: string, source: string): Term => ({
  id,
  name,
  unit,
  means,
  formula,
  source,
})

export const terms: readonly Term[] = [
  term(
    'reservation',
    'Reservation R',
    'tokens per period',
    'I/Os guaranteed to a client in every period. Sent to the client at the start of the period; unused tokens of the previous period expire.',
    'sum of all R \u2264 \u03C9, each R \u2264 T \u00B7 C_L',
    'spec/haechi 2, 9',
  ),
  term(
    'limit',
    'Limit L',
    'tokens per period',
    'Maximum I/Os of a client per period, from its reservation and from the pool. Counted when issued.',
    'issued \u2265 L: throttled until the next period',
    'spec/haechi 3',
  ),
  term(
    'left',
    '\u03BE left',
    'tokens',
    'Unused part of the reservation. It decreases over the period, but not below the number of queued requests while enough is left.',
    '\u03BE = min(\u03BE, X + queued), X = R \u2212 floor(R \u00B7 t / T)',
    'spec/haechi 4',
  ),
  term(
    'held',
    'Pool held g',
    'tokens',
    'Claimed from the pool and not used yet. Expires with the next period.',
    'g += clamp(v, 0, B), v the pool before the claim',
    'spec/haechi 3',
  ),
  term(
    'yielded',
    'Yielded',
    'tokens',
    'Given up this period: the reservation exceeded the demand, so other clients get it through the pool.',
    'sum of reductions of \u03BE',
    'spec/haechi 4, 7',
  ),
  term(
    'batch',
    'Batch B',
    'tokens',
    'Tokens per claim from the pool: one round trip for this number of I/Os.',
    'fetch-and-add(POOL, \u2212B), one in flight per client',
    'spec/haechi 3',
  ),
  term(
    'pool',
    'Pool',
    'tokens, signed',
    'Unowned tokens. Claims in flight may take it below zero; that debt has no owner, the next conversion overwrites it.',
    'start = max(0, \u03C9 \u2212 sum of R)',
    'spec/haechi 2, 6',
  ),
  term(
    'conversion',
    'Conversion',
    'tokens',
    'At every check the monitor sets the pool to the remaining capacity, minus reserved tokens and tokens already handed out.',
    'min(C_G \u00B7 rest \u2212 L, \u03C9 \u2212 sum of R + yielded \u2212 claimed)',
    'spec/haechi 7',
  ),
  term(
    'omega',
    'Estimate \u03C9',
    'tokens per period',
    'Capacity of the data node per period, estimated from the previous ones. All tokens handed out add up to it.',
    'U \u2265 \u03C9: \u03C9 + \u03B7; U \u2265 least: mean of the last M; else kept',
    'spec/haechi 8',
  ),
  term(
    'used',
    'Used U',
    'tokens per period',
    'I/Os that all clients completed in a period, as they reported them.',
    'U = sum of N',
    'spec/haechi 5, 8',
  ),
  term(
    'missed',
    'Missed',
    'periods in a row',
    'The client completed less than its reservation in a whole period. Without demand that is not a fault of the node.',
    'min(N, R) < R',
    'spec/haechi 8',
  ),
  term(
    'fluid',
    'Fluid finishing time',
    '% of the period',
    'Time at which all reservations would be met if clients were served in equal shares. Above 100 % they cannot all be met.',
    'equal share min(C_L, C_G / k) of k clients that are not done',
    'spec/haechi 9',
  ),
]
const byId = new Map(terms.map((t) => [t.id, t]))
export const termOf = (id: string): Term | undefined => byId.get(id)

export const variants: readonly { value: TokensVariant; label: string; does: string }[] = [
  { value: 'bare', label: 'Bare', does: 'No tokens: the network shares the data node equally between clients.' },
  { value: 'basic', label: 'Basic', does: 'Tokens without conversion: unused reservations are lost.' },
  {
    value: 'haechi',
    label: 'With conversion',
    does: 'Unused reservations go to the pool at every check.',
  },
]
export const presets: readonly { value: TokensPreset; label: string }[] = [
  { value: 'default', label: 'Default' },
  { value: 'paper-literal', label: 'Paper-literal' },
]

/** Faults of the paper-literal preset, with their effects; measured with ten clients under a zipf demand. */
export const literalFaults: readonly { what: string; does: string; fails: string; source: string }[] = [
  {
    what: 'Decay',
    does: '\u03BE = min(\u03BE, X), regardless of the queue',
    fails:
      'takes tokens from clients with a backlog: if all clients are served equally, a large reservation decays faster than it is served, so its client gets no more than without QoS',
    source: 'spec/haechi 4',
  },
  {
    what: 'Conversion',
    does: 'pool = C_G \u00B7 rest \u2212 L',
    fails: 're-issues tokens already handed out: U exceeds \u03C9 at once, so \u03C9 bounds nothing',
    source: 'spec/haechi 7',
  },
  {
    what: 'Estimate',
    does: 'rises only when U == \u03C9',
    fails: 'freezes as soon as U is above \u03C9, and low counts from before a rise pull it down again',
    source: 'spec/haechi 8',
  },
]
/** The same in one sentence. */
export const literalSentence =
  'Literal decay strips clients that have a backlog, literal conversion re-issues tokens that were handed out, and the rule U == \u03C9 freezes the estimate.'
export const defaultSentence =
  'Decay spares queued requests, conversion counts tokens handed out, the estimate rises from U \u2265 \u03C9 on.'
