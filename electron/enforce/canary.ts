/**
 * Canary watch over the first server of a commit: the rest get the change only if its side effects stay within limits.
 *
 * The checks use figures that a throttled job alone does not move: lock callback timeouts (evicted clients), service
 * times of jobs that the change does not cover, and RPCs queued beyond what the clients of the covered jobs can send. A
 * server without readings cannot be watched, which is a reason to roll back, too.
 */
import { formatTimeout } from '#core/base/figure-text.ts'

export interface CanaryReading {
  /** Time on the source's clock, Unix ms. */
  readonly atMs: number
  /** RPCs waiting in the service's queues. */
  readonly queued: number
  /** Lock callback timeouts since the server started; undefined if not read. */
  readonly timeouts: number | undefined
  /** Mean service time of reads and writes of jobs that the change does not cover, ms; undefined if they had none. */
  readonly othersMs: number | undefined
  /** Classes bound to the rules that the change starts or changes; undefined if it only stops rules. */
  readonly bound: number | undefined
}

export interface CanaryLimits {
  /**
   * Upper bound of queued RPCs: those queued before, plus those that clients of the covered jobs can have in flight.
   */
  readonly queuedMost: number
  /** Limit of the other jobs' service time: as a factor of the time before, and at least so many ms more. */
  readonly othersFactor: number
  readonly othersMoreMs: number
  /** Longest wall time without a reading. */
  readonly silentMs: number
}

export const CANARY_DEFAULTS = { othersFactor: 3, othersMoreMs: 20, silentMs: 15_000 } as const
/** Consecutive readings above the limit of the other jobs' service time: a single slow second has no meaning. */
const SLOW_READINGS = 3

export interface CanaryWatch {
  /** Reading from before anything was sent. */
  readonly before: CanaryReading
  readonly limits: CanaryLimits
  /** Next reading of the server; undefined if none arrived in time, or the signal fired. */
  next(signal: AbortSignal | undefined): Promise<CanaryReading | undefined>
}

/** One check of a watch, as reported. */
export interface CanaryCheck {
  readonly level: 'ok' | 'watch' | 'bad'
  readonly text: string
}

const ms = (v: number): string => `${v < 10 ? v.toFixed(1) : Math.round(v)} ms`

/**
 * Judges one reading. @param slow  consecutive readings, this one included, in which other jobs were slower than the
 * limit.
 */
export function judgeReading(
  watch: Pick<CanaryWatch, 'before' | 'limits'>,
  now: CanaryReading,
  slow: number,
): CanaryCheck[] {
  const { before, limits } = watch
  const checks: CanaryCheck[] = []
  if (now.timeouts !== undefined && before.timeouts !== undefined) {
    const more = now.timeouts - before.timeouts
    checks.push(
      more > 0
        ? { level: 'bad', text: `${more} lock callback${more === 1 ? '' : 's'} timed out: clients are evicted` }
        : { level: 'ok', text: 'no lock callback timed out' },
    )
  } else checks.push({ level: 'watch', text: 'lock timeouts are not read' })
  const isQueued = now.queued > limits.queuedMost
  checks.push({
    level: isQueued ? 'bad' : 'ok',
    text: `${now.queued} RPCs queued, ${before.queued} before${isQueued ? `, limit ${limits.queuedMost}` : ''}`,
  })
  if (now.othersMs !== undefined && before.othersMs !== undefined) {
    const level = slow >= SLOW_READINGS ? 'bad' : slow > 0 ? 'watch' : 'ok'
    checks.push({ level, text: `other jobs: service time ${ms(now.othersMs)}, ${ms(before.othersMs)} before` })
  }
  if (now.bound !== undefined) {
    const level = now.bound > 0 ? 'ok' : 'watch'
    checks.push({ level, text: now.bound > 0 ? `match: ${now.bound} classes matched` : 'no match so far' })
  }
  return checks
}

/** True while other jobs are served slower than the limit. */
function isSlow({ before, limits }: Pick<CanaryWatch, 'before' | 'limits'>, now: CanaryReading): boolean {
  if (now.othersMs === undefined || before.othersMs === undefined) return false
  return now.othersMs > before.othersMs * limits.othersFactor && now.othersMs - before.othersMs > limits.othersMoreMs
}

export interface WatchEnd {
  /** Reason to roll back the first server; undefined if the rest may follow. */
  readonly broken: string | undefined
  readonly checks: readonly CanaryCheck[]
}

/**
 * Watches until `seconds` have passed on the source's clock.
 *
 * @param onChecks  called after every reading with its checks and the seconds left.
 */
export async function watchCanary(
  watch: CanaryWatch,
  seconds: number,
  signal: AbortSignal | undefined,
  onChecks: (checks: readonly CanaryCheck[], remainingS: number) => void,
): Promise<WatchEnd> {
  let checks: readonly CanaryCheck[] = []
  let slow = 0
  let beganMs: number | undefined
  onChecks(checks, seconds)
  for (;;) {
    const now = await watch.next(signal)
    if (signal?.aborted) return { broken: 'canceled during the watch', checks }
    if (!now)
      return { broken: `no reading for ${formatTimeout(watch.limits.silentMs)}, so it could not be watched`, checks }
    slow = isSlow(watch, now) ? slow + 1 : 0
    beganMs ??= now.atMs
    checks = judgeReading(watch, now, slow)
    const bad = checks.find((s) => s.level === 'bad')
    const remainingS = Math.max(0, seconds - (now.atMs - beganMs) / 1000)
    onChecks(checks, remainingS)
    if (bad) return { broken: `canary: ${bad.text}`, checks }
    if (remainingS === 0) return { broken: undefined, checks }
  }
}
