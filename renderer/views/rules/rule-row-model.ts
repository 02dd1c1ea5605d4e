/** Display model of a row of the rule list, from the row that the host sent. */
import type { RulesFrame } from '#core/api/frames.ts'
import type { Lint } from '#core/api/rule-edits.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatCountdown, formatNumber, formatPercent, formatRate, formatSpan, plural } from '../../format/units.ts'

export type RuleRow = RulesFrame['rows'][number]

/** Key of a row across frames. Rules of the controller have different names on each server, others do not. */
export const ruleKey = (row: RuleRow): string =>
  row.owner === 'sluice' ? `ours ${row.conditions}` : `${row.name} ${row.conditions}`
/** Time without a class after which a rule is flagged. */
const IDLE_MS = 60_000

/** Owner of a rule as text. */
const owners: Readonly<Record<RuleRow['owner'], string>> = {
  sluice: 'managed by the controller',
  operator: 'manual',
  lustre: 'server default, read-only',
  other: 'set outside Sluice',
}

const spread = (min: number, max: number): string =>
  min === max ? formatNumber(min) : `${formatNumber(min)}\u2013${formatNumber(max)}`

/** Formats the ceiling of one class; with a staged rate the new ceiling and the old one. */
export function ceilingText({ ceiling, ceilingBps, rateMin, rateMax, rateStaged, servers }: RuleRow): string {
  if (ceiling === 0) return '' // a rule that is only staged, and that the host has not computed
  const scale = rateStaged === null || rateMin !== rateMax || rateMin === 0 ? 1 : rateStaged / rateMin
  const bytes = formatRate(ceilingBps === null ? null : ceilingBps * scale)
  const estimate = ceilingBps === null ? '' : ` \u00B7 about ${bytes.text} ${bytes.unit}`
  const was = scale === 1 ? '' : `, was ${formatNumber(ceiling)}`
  return `up to ${formatNumber(ceiling * scale)} RPC/s per class over ${plural(servers, 'server')}${estimate}${was}`
}

/** Formats the owner of a rule and its reason. */
const whoseText = (owner: RuleRow['owner'], reason: string): string =>
  reason === '' ? owners[owner] : `${owners[owner]}: ${plainText(reason)}`

/** Returns the most severe lint of a rule. */
function worst(lints: readonly Lint[]): Lint | null {
  const weight = { bad: 3, watch: 2, info: 1, ok: 0 }
  return lints.reduce<Lint | null>((most, l) => (most && weight[most.level] >= weight[l.level] ? most : l), null)
}

/** Describes the change of a rule since A; null while not comparing. */
export function sinceA({ against, rateMin, rateMax }: RuleRow): { kind: 'same' | 'new' | 'rate'; text: string } | null {
  if (against === undefined) return null
  if (!against.there) return { kind: 'new', text: 'new since A' }
  const min = against.rateMin
  const max = against.rateMax
  if (min === null || max === null || (min === rateMin && max === rateMax))
    return { kind: 'same', text: 'unchanged since A' }
  return { kind: 'rate', text: `A ${spread(min, max)} \u2192 B ${spread(rateMin, rateMax)}` }
}

/** Context of a row beside the row itself. */
export interface RowContext {
  readonly nowMs: number
  /** Lints of this rule. */
  readonly lints?: readonly Lint[]
  /** Staged change: its expiry, s (null = none), and its reason. */
  readonly item?: { readonly expiresS: number | null; readonly reason: string } | undefined
}

export function ruleRowModel(row: RuleRow, { nowMs, lints = [], item }: RowContext) {
  const { rateMin, rateMax, rateStaged, ref, refZeroMs, used, expiresMs, createdMs, servers, serversTotal } = row
  const isNew = row.staged === 'add'
  const isSameRate = rateStaged === rateMin && rateStaged === rateMax
  const stagedExpiresS = item?.expiresS ?? null
  /** Time without a class, ms; 0 for the default rule of the server, which may always be idle. */
  const idleMs = ref === 0 && refZeroMs !== null && row.owner !== 'lustre' ? nowMs - refZeroMs : 0
  const isQuiet = idleMs > IDLE_MS && !isNew
  const leftMs = expiresMs === null ? null : Math.max(0, expiresMs - nowMs)
  const lint = worst(lints.filter((l) => l.level === 'watch' || l.level === 'bad'))
  return {
    ceiling: ceilingText(row),
    whose: whoseText(row.owner, row.reason === '' && isNew ? (item?.reason ?? '') : row.reason),
    rate: rateStaged === null ? spread(rateMin, rateMax) : formatNumber(rateStaged),
    /** Current rate while another one is staged. */
    was: rateStaged === null || isNew || isSameRate ? null : spread(rateMin, rateMax),
    light: isNew ? 'would' : isQuiet ? 'warn' : ref > 0 ? 'on' : 'off',
    matching: isNew
      ? row.would === null
        ? 'unknown'
        : `${formatNumber(row.would)} expected`
      : isQuiet
        ? `ref 0, ${formatSpan(idleMs)}`
        : `ref ${formatNumber(ref)}`,
    used: formatPercent(used),
    /** Top of the sparkline: the ceiling, or a higher past value. */
    top: row.spark.reduce<number>((most, v) => Math.max(most, v ?? 0), row.ceiling) * 1.1,
    isFull: used !== null && used > 0.95,
    expires: isNew
      ? stagedExpiresS === null
        ? 'no expiry'
        : formatCountdown(stagedExpiresS * 1000)
      : leftMs === null
        ? 'no expiry'
        : formatCountdown(leftMs),
    /** Share of its time that is left, 0..1; null without a timer. */
    left: isNew
      ? stagedExpiresS === null
        ? null
        : 1
      : leftMs === null || expiresMs === null
        ? null
        : leftMs / Math.max(1, expiresMs - (createdMs ?? nowMs)),
    servers: isNew ? 'new' : `${servers}/${serversTotal}`,
    missing: row.missing.length === 0 ? undefined : `Missing or different on: ${row.missing.join(', ')}`,
    /** True if servers differ. Rules of the controller are per server; any other must be the same on all. */
    isPartial:
      !isNew && row.owner !== 'sluice' && row.owner !== 'lustre' && (servers < serversTotal || row.missing.length > 0),
    lint,
    since: row.staged === 'add' ? null : sinceA(row),
  }
}
export type RuleRowModel = ReturnType<typeof ruleRowModel>
