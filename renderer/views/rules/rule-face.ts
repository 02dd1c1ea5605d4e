/** What a row of the rule list says, from the row the host sent. */
import type { RulesFrame } from '#core/api/frames.ts'
import type { Lint } from '#core/api/rule-edits.ts'
import { plainText } from '../../format/plain-text.ts'
import { formatCountdown, formatNumber, formatPercent, formatRate, formatSpan } from '../../format/units.ts'

export type RuleRow = RulesFrame['rows'][number]

/** What a row is known by from frame to frame: the names of our rules differ from server to server, those of others do not. */
export const ruleKey = (row: RuleRow): string =>
  row.owner === 'sluice' ? `ours ${row.conditions}` : `${row.name} ${row.conditions}`
/** A rule without a class for this long is worth a look. */
const IDLE_MS = 60_000

/** Whose rule it is, in words; empty where the list says it already. */
const owners: Readonly<Record<RuleRow['owner'], string>> = {
  sluice: 'of the controller',
  operator: 'by hand',
  lustre: 'of the server, never touched',
  other: 'set elsewhere',
}

const spread = (min: number, max: number): string =>
  min === max ? formatNumber(min) : `${formatNumber(min)}\u2013${formatNumber(max)}`

/** The most that one class can reach; with a staged rate that of the staged one, and what it was. */
export function ceilingText({ ceiling, ceilingBps, rateMin, rateMax, rateStaged }: RuleRow): string {
  if (ceiling === 0) return '' // a rule that is only staged, where the host has not reckoned it
  const scale = rateStaged === null || rateMin !== rateMax || rateMin === 0 ? 1 : rateStaged / rateMin
  const bytes = formatRate(ceilingBps === null ? null : ceilingBps * scale)
  const estimate = ceilingBps === null ? '' : ` \u00B7 about ${bytes.text} ${bytes.unit}`
  const was = scale === 1 ? '' : `, was ${formatNumber(ceiling)}`
  return `up to ${formatNumber(ceiling * scale)} RPC/s per class${estimate}${was}`
}

/** Whose rule it is, and why it stands. */
const whoseText = (owner: RuleRow['owner'], reason: string): string =>
  reason === '' ? owners[owner] : `${owners[owner]}: ${plainText(reason)}`

/** The lint that weighs most, of those about a rule. */
function worst(lints: readonly Lint[]): Lint | null {
  const weight = { bad: 3, watch: 2, info: 1, ok: 0 }
  return lints.reduce<Lint | null>((most, l) => (most && weight[most.level] >= weight[l.level] ? most : l), null)
}

/** What became of a rule since A; null when nothing is compared. */
export function sinceA({ against, rateMin, rateMax }: RuleRow): { kind: 'same' | 'new' | 'rate'; text: string } | null {
  if (against === undefined) return null
  if (!against.there) return { kind: 'new', text: 'new since A' }
  const [min, max] = [against.rateMin, against.rateMax]
  if (min === null || max === null || (min === rateMin && max === rateMax)) return { kind: 'same', text: 'as at A' }
  return { kind: 'rate', text: `A ${spread(min, max)} \u2192 B ${spread(rateMin, rateMax)}` }
}

/** What is known of a row beside the row itself. */
export interface RowContext {
  readonly nowMs: number
  /** Remarks about this rule. */
  readonly lints?: readonly Lint[]
  /** What is staged for it: how long it would stand, s (null = without end), and why. */
  readonly item?: { readonly expiresS: number | null; readonly reason: string } | undefined
}

export function ruleFace(row: RuleRow, { nowMs, lints = [], item }: RowContext) {
  const { rateMin, rateMax, rateStaged, ref, refZeroMs, used, expiresMs, createdMs, servers, serversTotal } = row
  const isNew = row.staged === 'add'
  const isSameRate = rateStaged === rateMin && rateStaged === rateMax
  const stagedExpiresS = item?.expiresS ?? null
  /** Since when no class hangs on it; the server's own default rule may idle for ever. */
  const idleMs = ref === 0 && refZeroMs !== null && row.owner !== 'lustre' ? nowMs - refZeroMs : 0
  const isQuiet = idleMs > IDLE_MS && !isNew
  const leftMs = expiresMs === null ? null : Math.max(0, expiresMs - nowMs)
  const lint = worst(lints.filter((l) => l.level === 'watch' || l.level === 'bad'))
  return {
    ceiling: ceilingText(row),
    whose: whoseText(row.owner, row.reason === '' && isNew ? (item?.reason ?? '') : row.reason),
    rate: rateStaged === null ? spread(rateMin, rateMax) : formatNumber(rateStaged),
    /** Rate that stands while another one is staged. */
    was: rateStaged === null || isNew || isSameRate ? null : spread(rateMin, rateMax),
    light: isNew ? 'would' : isQuiet ? 'warn' : ref > 0 ? 'on' : 'off',
    matching: isNew
      ? row.would === null
        ? 'not tried'
        : `${formatNumber(row.would)} would`
      : isQuiet
        ? `ref 0, ${formatSpan(idleMs)}`
        : `ref ${formatNumber(ref)}`,
    used: formatPercent(used),
    /** Top of the sparkline: the ceiling, or more where the rate was higher before. */
    top: row.spark.reduce<number>((most, v) => Math.max(most, v ?? 0), row.ceiling) * 1.1,
    isFull: used !== null && used > 0.95,
    expires: isNew
      ? stagedExpiresS === null
        ? 'no expiry'
        : formatCountdown(stagedExpiresS * 1000)
      : leftMs === null
        ? 'no expiry'
        : formatCountdown(leftMs),
    /** What is left of its time, 0..1; null without a timer. */
    left: isNew
      ? stagedExpiresS === null
        ? null
        : 1
      : leftMs === null || expiresMs === null
        ? null
        : leftMs / Math.max(1, expiresMs - (createdMs ?? nowMs)),
    servers: isNew ? 'new' : `${servers}/${serversTotal}`,
    missing: row.missing.length === 0 ? undefined : `Missing or different on: ${row.missing.join(', ')}`,
    /** The controller decides per server; any other rule is expected on all of them, and alike. */
    isPartial:
      !isNew && row.owner !== 'sluice' && row.owner !== 'lustre' && (servers < serversTotal || row.missing.length > 0),
    lint,
    since: row.staged === 'add' ? null : sinceA(row),
  }
}
export type RuleFace = ReturnType<typeof ruleFace>
