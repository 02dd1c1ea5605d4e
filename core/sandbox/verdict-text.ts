/** Texts of a verdict: job names, percentages, waits. */
import { bounded } from './variant-summary.ts'

const ID_LONGEST = 40

/** Name of a job in a sentence: its number if its id begins with one, else the id, truncated if long. */
export const jobLabel = (jobId: string): string => /^(\d{1,12})[._@:]/.exec(jobId)?.[1] ?? bounded(jobId, ID_LONGEST)

/** A part as percent without its sign: whole from 1 % on. */
export function percent(part: number): string {
  const v = Math.abs(part) * 100
  if (!Number.isFinite(v)) return '? %'
  return v < 0.05 ? '0 %' : v < 0.95 ? `${v.toFixed(1)} %` : `${Math.round(v)} %`
}

/** Change from one value to another as signed percent. */
export function change(now: number, before: number): string {
  const part = now / before - 1
  if (!Number.isFinite(part)) return 'not comparable'
  const text = percent(part)
  return text === '0 %' ? '±0 %' : `${part < 0 ? '−' : '+'}${text}`
}

const significant = (v: number): string => {
  if (v >= 10) return String(Math.round(v))
  return v >= 1 ? v.toFixed(1) : v === 0 ? '0' : String(Number(v.toPrecision(1)))
}

/** Formats two waits in one unit; a non-finite one as not served. */
export function waitPair(beforeMs: number, nowMs: number): string {
  const isSeconds = [beforeMs, nowMs].some((v) => Number.isFinite(v) && v >= 1000)
  const one = (v: number): string =>
    !Number.isFinite(v) ? 'not served' : isSeconds ? `${significant(v / 1000)} s` : `${significant(v)} ms`
  return `${one(beforeMs)} → ${one(nowMs)}`
}
