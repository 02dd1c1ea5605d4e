/** Instants as people and cron write them. */

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Digits of Unix seconds; from this length on they are ms. */
const MS_DIGITS = 12
const RELATIVE = /^(?:-(\d{1,7})([smhd])|(\d{1,7}) ?([smhd]) ago)$/

/**
 * Unix ms of `now`, `-10m`, `10m ago`, Unix s or ms, or ISO 8601; undefined for what is none. A date without a zone is of this machine's,
 * one without a time is midnight in UTC: as ISO 8601 in JavaScript.
 */
export function instantOf(text: string, nowMs: number): number | undefined {
  if (text === 'now') return nowMs
  const [, a, ua, b, ub] = RELATIVE.exec(text) ?? []
  const unit = UNITS[ua ?? ub ?? '']
  if (unit !== undefined) return nowMs - Number(a ?? b) * unit
  if (/^\d{1,16}$/.test(text)) return text.length < MS_DIGITS ? Number(text) * 1_000 : Number(text)
  const ms = /^\d{4}-\d{2}/.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(ms) || Math.abs(ms) > 8.64e15 ? undefined : ms
}
