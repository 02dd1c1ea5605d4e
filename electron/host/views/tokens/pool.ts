/** Pool of a data node: now, over the period or the last minute, and the phases of the period. */
import type { TokensFrame, TokensSpan } from '#core/api/tokens.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import { rowsOf, type Place } from '../../../cluster/tokens/position.ts'

const POINTS = 250
const MINUTE_NS = 60 * NS_PER_S
/** The monitor's last action of a period is its calibration, at most a check before the end. */
type Phase = TokensFrame['phases'][number]

/** Tokens in the pool at the start of the period; undefined without tokens, or if no longer kept. */
function initialPool({ run, record, startNs }: Place): number | undefined {
  if (record) return record.monitor?.initialPool
  const begun = run.node.events.items.findLast((e) => e.kind === 'period' && e.at >= startNs)
  return begun?.kind === 'period' ? begun.pool : undefined
}

export function poolOf(place: Place): TokensFrame['pool'] {
  const { run, row, startNs, atNs } = place
  const none = { now: null, start: null, lowest: null, lowestAtMs: null, reported: null, target: null, emptyFetches: 0 }
  if (row === undefined || !run.node.monitor) return none
  const { samples, setup } = run.node
  const value = (r: number, of: 'pool' | 'residual' | 'target' | 't'): number => samples.nodeValue(r, of)
  let lowest: number | undefined
  for (const r of rowsOf(samples, setup.samples.everyNs, startNs + 1, atNs, Infinity)) {
    if (lowest === undefined || value(r, 'pool') < value(lowest, 'pool')) lowest = r
  }
  const least = lowest === undefined ? null : value(lowest, 'pool')
  return {
    now: value(row, 'pool'),
    start: initialPool(place) ?? null,
    lowest: least,
    lowestAtMs: lowest === undefined ? null : (value(lowest, 't') - startNs) / NS_PER_MS,
    // Every fetch takes a whole batch: a negative pool counts fetches that got nothing, or less than a batch.
    emptyFetches: least === null || least >= 0 ? 0 : Math.ceil(-least / setup.settings.batch),
    reported: value(row, 'residual'),
    target: value(row, 'target'),
  }
}

export function seriesOf(place: Place, span: TokensSpan): TokensFrame['series'] {
  const { run, atNs, startNs, endNs } = place
  const { samples, setup, monitor } = run.node
  // A sample at the very start still shows the debt of the previous period.
  const [fromNs, toNs] = span === 'period' ? [startNs, endNs] : [Math.max(0, atNs - MINUTE_NS), atNs]
  if (!monitor) return { span, t: [], pool: [], reported: [], target: [], unconverted: [] }
  const rows = rowsOf(samples, setup.samples.everyNs, fromNs + 1, Math.min(atNs, toNs), POINTS)
  const column = (of: 'pool' | 'residual' | 'target'): number[] => rows.map((r) => samples.nodeValue(r, of))
  const start = initialPool(place)
  return {
    span,
    t: rows.map((r) => (samples.nodeValue(r, 't') - fromNs) / NS_PER_MS),
    pool: column('pool'),
    reported: column('residual'),
    target: column('target'),
    // Remaining tokens after the claims, as if nothing had been converted.
    unconverted: rows.map((r) =>
      span === 'period' && start !== undefined ? start - samples.nodeValue(r, 'claimed') : null,
    ),
  }
}

/** Phases of the period up to the cursor, from the monitor's own events. */
export function phasesOf({ run, startNs, endNs, atNs }: Place): Phase[] {
  if (!run.node.monitor) return []
  const within = run.node.events.items.filter((e) => e.at >= startNs && e.at <= Math.min(atNs, endNs))
  const begun = within.find((e) => e.kind === 'period')
  const reports = within.find((e) => e.kind === 'start-report')
  const ms = (ns: number): number => (ns - startNs) / NS_PER_MS
  const dispatched = begun?.at ?? startNs
  const reporting = reports?.at
  const end = Math.min(atNs, endNs)
  const phases: Phase[] = [
    { kind: 'dispatch', fromMs: 0, toMs: ms(Math.max(dispatched, Math.min(end, startNs + NS_PER_MS))) },
  ]
  const waitsUntil = reporting ?? end
  const from = phases[0]?.toMs ?? 0
  if (ms(waitsUntil) > from) phases.push({ kind: 'wait', fromMs: from, toMs: ms(waitsUntil) })
  if (reporting === undefined) return phases
  // Conversion stops when nothing is left to convert: at the last check before the end.
  const lastCheck = endNs - run.node.setup.settings.checkNs
  phases.push({ kind: 'report', fromMs: Math.max(from, ms(reporting)), toMs: ms(Math.min(end, lastCheck)) })
  if (end > lastCheck) phases.push({ kind: 'end', fromMs: ms(lastCheck), toMs: ms(end) })
  return phases
}
