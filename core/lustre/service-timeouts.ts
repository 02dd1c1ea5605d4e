/**
 * `ost.OSS.ost_io.timeouts`: expected service time of a service, one line for each CPT, printed and parsed.
 *
 * Source: spec/lustre 6.7, measured A21. The four last numbers are the longest service times of the latest quarters of at_history (150 s
 * each), newest first, in whole seconds.
 */
import type { ByteText, SkippedLine } from './text.ts'

export interface ServiceEstimate {
  readonly name: string
  /** Seconds. */
  readonly current: number
  readonly worst: number
  /** Unix time of the worst one, and its age, seconds. */
  readonly worstAt: number
  readonly ago: number
  readonly quarters: readonly number[]
}

/** Formats the value of timeouts. */
export const formatServiceTimeouts = (estimates: readonly ServiceEstimate[]): string =>
  estimates
    .map(
      (e) =>
        `${e.name.padStart(10)} : cur ${String(e.current).padStart(3)}  worst ${String(e.worst).padStart(3)} ` +
        `(at ${e.worstAt}, ${e.ago}s ago) ${e.quarters.map((q) => `${String(q).padStart(3)} `).join('')}\n`,
    )
    .join('')

const LINE = /^ *(\S+) : cur +(\d+) {2}worst +(\d+) \(at (\d+), (\d+)s ago\)((?: +\d+)+) $/

/** Parses the value; unreadable lines are reported and skipped. */
export function parseServiceTimeouts(text: ByteText): {
  readonly estimates: readonly ServiceEstimate[]
  readonly skipped: readonly SkippedLine[]
} {
  const estimates: ServiceEstimate[] = []
  const skipped: SkippedLine[] = []
  text.split('\n').forEach((line, i) => {
    if (line === '') return
    const m = LINE.exec(line)
    if (!m) {
      skipped.push({ line: i + 1, reason: 'not an estimate' })
      return
    }
    const [, name = '', current, worst, worstAt, ago, quarters = ''] = m
    estimates.push({
      name,
      current: Number(current),
      worst: Number(worst),
      worstAt: Number(worstAt),
      ago: Number(ago),
      quarters: quarters.trim().split(/ +/).map(Number),
    })
  })
  return { estimates, skipped }
}
