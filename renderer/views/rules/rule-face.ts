/** What a row of the rule list says, from the row the host sent. */
import type { RulesFrame } from '#core/api/frames.ts'
import { formatCountdown, formatNumber, formatPercent, formatRate, formatSpan } from '../../widgets/units.ts'

export type RuleRow = RulesFrame['rows'][number]

/** What a row is known by from frame to frame: the names of our rules differ from server to server, those of others do not. */
export const ruleKey = (row: RuleRow): string =>
  row.owner === 'sluice' ? `ours ${row.conditions}` : `${row.name} ${row.conditions}`
/** A rule without a class for this long is worth a look. */
const IDLE_MS = 60_000

export function ceilingText({ ceiling, ceilingBps, owner }: RuleRow): string {
  const bytes = formatRate(ceilingBps)
  const estimate = ceilingBps === null ? '' : ` \u00B7 about ${bytes.text} ${bytes.unit}`
  const foreign =
    owner === 'sluice'
      ? ''
      : owner === 'lustre'
        ? ' \u00B7 of the server, never touched'
        : ' \u00B7 not ours, never touched'
  return `up to ${formatNumber(ceiling)} RPC/s per class${estimate}${foreign}`
}

export function ruleFace(row: RuleRow, nowMs: number) {
  const { rateMin, rateMax, ref, refZeroMs, used, expiresMs, createdMs, servers, serversTotal, spark, ceiling } = row
  /** Since when no class hangs on it; the server's own default rule may idle for ever. */
  const idleMs = ref === 0 && refZeroMs !== null && row.owner !== 'lustre' ? nowMs - refZeroMs : 0
  const isQuiet = idleMs > IDLE_MS
  const leftMs = expiresMs === null ? null : Math.max(0, expiresMs - nowMs)
  return {
    ceiling: ceilingText(row),
    rate: rateMin === rateMax ? formatNumber(rateMin) : `${formatNumber(rateMin)}\u2013${formatNumber(rateMax)}`,
    light: isQuiet ? 'warn' : ref > 0 ? 'on' : 'off',
    matching: isQuiet ? `ref 0, ${formatSpan(idleMs)}` : `ref ${formatNumber(ref)}`,
    used: formatPercent(used),
    /** Top of the sparkline: the ceiling, or more where the rate was higher before. */
    top: spark.reduce<number>((most, v) => Math.max(most, v ?? 0), ceiling) * 1.1,
    isFull: used !== null && used > 0.95,
    expires: leftMs === null ? 'no expiry' : formatCountdown(leftMs),
    /** What is left of its time, 0..1; null without a timer. */
    left: leftMs === null || expiresMs === null ? null : leftMs / Math.max(1, expiresMs - (createdMs ?? nowMs)),
    servers: `${servers}/${serversTotal}`,
    /** The controller decides per server; a rule of somebody else is expected on all of them. */
    isPartial: row.owner === 'other' && servers < serversTotal,
  }
}
