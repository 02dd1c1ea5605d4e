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
    'Reservation (R)',
    'tokens per period',
    'I/Os guaranteed to a client in every period. Sent to the client at the start of the period; unused tokens of the previous period expire.',
    'sum of all R \u2264 \u03C9, each R \u2264 T \u00B7 C_L',
    'Haechi, QoS engine and admission control',
  ),
  term(
    'limit',
    'Limit (L)',
    'tokens per period',
    'Maximum I/Os that a client may issue per period, from its reservation and from the pool.',
    'issued \u2265 L: throttled until the next period',
    'Haechi, QoS engine',
  ),
  term(
    'left',
    'Reservation left (\u03BE)',
    'tokens',
    'Unused part of the reservation. It decreases over the period, but tokens for queued requests are kept.',
    '\u03BE = min(\u03BE, X + queued), X = R \u2212 floor(R \u00B7 t / T); as printed without queued',
    'Haechi, QoS engine',
  ),
  term(
    'held',
    'Held from pool (g)',
    'tokens',
    'Claimed from the pool and not used yet. Expires with the next period.',
    'g += clamp(v, 0, B), v the pool before the claim',
    'Haechi, QoS engine',
  ),
  term(
    'yielded',
    'Yielded',
    'tokens',
    'Given up this period: the reservation exceeded the demand, so other clients get it through the pool.',
    'sum of reductions of \u03BE',
    'Haechi, QoS engine and token conversion',
  ),
  term(
    'batch',
    'Batch (B)',
    'tokens',
    'Tokens per claim from the pool: one round trip for this number of I/Os.',
    'fetch-and-add(POOL, \u2212B), one in flight per client',
    'Haechi, QoS engine',
  ),
  term(
    'pool',
    'Pool',
    'tokens, signed',
    'Tokens that belong to no client. Claims in flight may take it below zero (overclaimed); no client has to return these, and the next conversion overwrites the value.',
    'start = max(0, \u03C9 \u2212 sum of R)',
    'Haechi, global pool',
  ),
  term(
    'conversion',
    'Conversion',
    'tokens',
    'At every check the monitor sets the pool to the capacity of the rest of the period, minus the unused reservations, but to no more tokens than were not handed out yet.',
    'max(0, min(\u03C9 \u00B7 (T \u2212 t) / T \u2212 sum of \u03BE, \u03C9 \u2212 sum of R + yielded \u2212 claimed)), \u03BE as last reported',
    'Haechi, token conversion',
  ),
  term(
    'omega',
    'Capacity estimate (\u03C9)',
    'tokens per period',
    'Capacity of the data node per period, estimated from the previous ones. The tokens handed out in a period add up to it at most.',
    'U \u2265 \u03C9: \u03C9 + \u03B7; else U \u2265 least: mean of the last M; else kept',
    'Haechi, capacity estimation',
  ),
  term(
    'used',
    'Used (U)',
    'tokens per period',
    'I/Os that all clients completed in a period, as they reported them.',
    'U = sum of N',
    'Haechi, capacity estimation',
  ),
  term(
    'missed',
    'Missed',
    'periods in a row',
    'Whole periods in which the client completed less than its reservation although it had requests. Tokens that it yielded without demand do not count as missed.',
    'N + yielded + slack < R, slack = window + R \u00B7 check interval / T',
    'Haechi, capacity estimation',
  ),
  term(
    'fluid',
    'Reservations met by (equal shares)',
    '% of the period',
    'Time at which all reservations would be met if clients were served in equal shares. Above 100 % some would be met too late.',
    'equal share min(C_L, C_G / k) of k clients that are not done',
    'Haechi, admission control',
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
  { value: 'paper-literal', label: 'As printed' },
  { value: 'deadline', label: 'Deadline' },
  { value: 'evidence', label: 'Evidence' },
  { value: 'deadline-evidence', label: 'Both' },
]

/** Presets that are advances of Sluice, not in the paper. */
export const advancePresets: readonly { label: string; does: string }[] = [
  {
    label: 'Deadline',
    does: 'Outstanding I/Os follow the reservation, and pool tokens wait until what is reserved finishes in the period.',
  },
  {
    label: 'Evidence',
    does: 'The capacity is the throughput of the times in which the node was saturated; low use changes nothing.',
  },
]

/** Faults of the paper-literal preset, with their effects; measured with ten clients under a zipf demand. */
export const literalFaults: readonly { what: string; does: string; fails: string; source: string }[] = [
  {
    what: 'Decay',
    does: '\u03BE = min(\u03BE, X), regardless of the queue',
    fails:
      'takes tokens from clients with a backlog: if all clients are served equally, a large reservation decays faster than it is served, so its client gets no more than without QoS',
    source: 'Haechi, QoS engine',
  },
  {
    what: 'Conversion',
    does: 'pool = C_G \u00B7 rest \u2212 L',
    fails: 're-issues tokens already handed out: U exceeds \u03C9 at once, so \u03C9 bounds nothing',
    source: 'Haechi, token conversion',
  },
  {
    what: 'Estimate',
    does: 'rises only when U == \u03C9',
    fails: 'freezes as soon as U is above \u03C9, and low counts from before a rise pull it down again',
    source: 'Haechi, capacity estimation',
  },
]
/** The same in one sentence. */
export const literalSentence =
  'As printed, decay takes tokens from clients that have a backlog, conversion re-issues tokens already handed out, and the rule U == \u03C9 freezes the estimate.'
export const defaultSentence =
  'Decay spares queued requests, conversion counts tokens handed out, the estimate rises from U \u2265 \u03C9 on.'
