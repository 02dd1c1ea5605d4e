/**
 * Canary watch over the first server of a commit: the rest get the change only if its side effects stay within limits.
 *
 * The checks use figures that a throttled job alone does not move: lock callback timeouts (evicted clients), service
 * times of jobs that the change does not cover, and RPCs queued beyond what the clients of the covered jobs can send. A
 * server without readings cannot be watched, which is a reason to roll back, too.
 */
import { formatTimeout } from '#core/base/figure-text.ts'

export interface GuardReading {
  /** On the source's clock, Unix ms. */
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

export interface GuardLimits {
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

export const GUARD_DEFAULTS = { othersFactor: 3, othersMoreMs: 20, silentMs: 15_000 } as const
/** Consecutive readings above the limit of the other jobs' service time: a single slow second has no meaning. */
const SLOW_READINGS = 3

export interface GuardWatch {
  /** Reading from before anything was sent. */
  readonly before: GuardReading
  readonly limits: GuardLimits
  /** Next reading of the server; undefined if none arrived in time, or the signal fired. */
  next(signal: AbortSignal | undefined): Promise<GuardReading | undefined>
}

/** One check of a watch, as reported. */
export interface GuardCheck {
  readonly level: 'ok' | 'watch' | 'bad'
  readonly text: string
}

const ms = (v: number): string => `${v < 10 ? v.toFixed(1) : Math.round(v)} ms`

/**
 * Judges one reading. @param slow  consecutive readings, this one included, in which other jobs were slower than the
 * limit.
 */
export function judgeReading(
  watch: Pick<GuardWatch, 'before' | 'limits'>,
  now: GuardReading,
  slow: number,
): GuardCheck[] {
  const { before, limits } = watch
  const says: GuardCheck[] = []
  if (now.timeouts !== undefined && before.timeouts !== undefined) {
    const more = now.timeouts - before.timeouts
    says.push(
      more > 0
        ? { level: 'bad', text: `${more} lock callback${more === 1 ? '' : 's'} timed out: clients are evicted` }
        : { level: 'ok', text: 'no lock callback timed out' },
    )
  } else says.push({ level: 'watch', text: 'lock timeouts are not read' })
  const isQueued = now.queued > limits.queuedMost
  says.push({
    level: isQueued ? 'bad' : 'ok',
    text: `${now.queued} RPCs queued, ${before.queued} before${isQueued ? `, limit ${limits.queuedMost}` : ''}`,
  })
  if (now.othersMs !== undefined && before.othersMs !== undefined) {
    const level = slow >= SLOW_READINGS ? 'bad' : slow > 0 ? 'watch' : 'ok'
    says.push({ level, text: `other jobs: service time ${ms(now.othersMs)}, ${ms(before.othersMs)} before` })
  }
  if (now.bound !== undefined) {
    const level = now.bound > 0 ? 'ok' : 'watch'
    says.push({ level, text: now.bound > 0 ? `match: ${now.bound} classes bound` : 'no match so far' })
  }
  return says
}

/** True while other jobs are served slower than the limit. */
export function isSlow({ before, limits }: Pick<GuardWatch, 'before' | 'limits'>, now: GuardReading): boolean {
  if (now.othersMs === undefined || before.othersMs === undefined) return false
  return now.othersMs > before.othersMs * limits.othersFactor && now.othersMs - before.othersMs > limits.othersMoreMs
}

export interface WatchEnd {
  /** Reason to roll back the first server; undefined if the rest may follow. */
  readonly broken: string | undefined
  readonly says: readonly GuardCheck[]
}

/**
 * Watches until `seconds` have passed on the source's clock.
 *
 * @param onSay  called after every reading with its checks and the seconds left.
 */
export async function watchCanary(
  watch: GuardWatch,
  seconds: number,
  signal: AbortSignal | undefined,
  onSay: (says: readonly GuardCheck[], leftS: number) => void,
): Promise<WatchEnd> {
  let says: readonly GuardCheck[] = []
  let slow = 0
  let beganMs: number | undefined
  onSay(says, seconds)
  for (;;) {
    const now = await watch.next(signal)
    if (signal?.aborted) return { broken: 'cancelled during the watch', says }
    if (!now)
      return { broken: `no reading for ${formatTimeout(watch.limits.silentMs)}, so it could not be watched`, says }
    slow = isSlow(watch, now) ? slow + 1 : 0
    beganMs ??= now.atMs
    says = judgeReading(watch, now, slow)
    const bad = says.find((s) => s.level === 'bad')
    const leftS = Math.max(0, seconds - (now.atMs - beganMs) / 1000)
    onSay(says, leftS)
    if (bad) return { broken: `guard: ${bad.text}`, says }
    if (leftS === 0) return { broken: undefined, says }
  }
}
