/**
 * The watch over the first server of a commit: whether what it does to others stays within limits before the rest get the same.
 *
 * Judged are figures that a throttled job alone does not move: locks whose callbacks timed out (clients evicted for it), service
 * times of the jobs that the change does not cover, and RPCs queued beyond what the clients of the covered jobs can send. A
 * server that gives no reading is not watched, and that is a reason to go back, too.
 */
import { formatTimeout } from '#core/base/figure-text.ts'

export interface GuardReading {
  /** On the source's clock, Unix ms. */
  readonly atMs: number
  /** RPCs that wait in the service's queues. */
  readonly queued: number
  /** Lock callbacks that were not answered in time, ever; undefined where they are not read. */
  readonly timeouts: number | undefined
  /** Mean service time of reads and writes of jobs that the change does not cover, ms; undefined when they had none. */
  readonly othersMs: number | undefined
  /** Classes under the rules that the change starts or changes; undefined when it only stops. */
  readonly bound: number | undefined
}

export interface GuardLimits {
  /** Most queued RPCs: what was there before, and what the clients of the covered jobs can have on their way. */
  readonly queuedMost: number
  /** Others' service time over that of before, as a factor, and at least so much more, ms. */
  readonly othersFactor: number
  readonly othersMoreMs: number
  /** Wall time without a reading. */
  readonly silentMs: number
}

export const GUARD_DEFAULTS = { othersFactor: 3, othersMoreMs: 20, silentMs: 15_000 } as const
/** Readings in a row above the limit of others' service time: one slow second is nobody's doing. */
const SLOW_READINGS = 3

export interface GuardWatch {
  /** Before anything was sent. */
  readonly before: GuardReading
  readonly limits: GuardLimits
  /** The next reading of the server; undefined when none came in time, or the signal fired. */
  next(signal: AbortSignal | undefined): Promise<GuardReading | undefined>
}

/** What a watch says while it lasts. */
export interface GuardSay {
  readonly level: 'ok' | 'watch' | 'bad'
  readonly text: string
}

const ms = (v: number): string => `${v < 10 ? v.toFixed(1) : Math.round(v)} ms`

/** Judges one reading. @param slow  readings in a row, this one included, in which others were slower than the limit. */
export function judgeReading(
  watch: Pick<GuardWatch, 'before' | 'limits'>,
  now: GuardReading,
  slow: number,
): GuardSay[] {
  const { before, limits } = watch
  const says: GuardSay[] = []
  if (now.timeouts !== undefined && before.timeouts !== undefined) {
    const more = now.timeouts - before.timeouts
    says.push(
      more > 0
        ? { level: 'bad', text: `${more} lock callback${more === 1 ? '' : 's'} timed out: clients are evicted` }
        : { level: 'ok', text: 'no lock callback timed out' },
    )
  } else says.push({ level: 'watch', text: 'timeouts of locks are not read here' })
  const isQueued = now.queued > limits.queuedMost
  says.push({
    level: isQueued ? 'bad' : 'ok',
    text: `${now.queued} RPCs queued, ${before.queued} before${isQueued ? `, at most ${limits.queuedMost} explained` : ''}`,
  })
  if (now.othersMs !== undefined && before.othersMs !== undefined) {
    const level = slow >= SLOW_READINGS ? 'bad' : slow > 0 ? 'watch' : 'ok'
    says.push({ level, text: `others are served in ${ms(now.othersMs)}, ${ms(before.othersMs)} before` })
  }
  if (now.bound !== undefined) {
    const level = now.bound > 0 ? 'ok' : 'watch'
    says.push({ level, text: now.bound > 0 ? `matching: ${now.bound} classes bound` : 'matches nothing so far' })
  }
  return says
}

/** Whether others are served slower than the limit. */
export function isSlow({ before, limits }: Pick<GuardWatch, 'before' | 'limits'>, now: GuardReading): boolean {
  if (now.othersMs === undefined || before.othersMs === undefined) return false
  return now.othersMs > before.othersMs * limits.othersFactor && now.othersMs - before.othersMs > limits.othersMoreMs
}

export interface WatchEnd {
  /** Why the server is brought back; undefined when the rest may follow. */
  readonly broken: string | undefined
  readonly says: readonly GuardSay[]
}

/**
 * Watches until `seconds` have gone by on the source's clock.
 *
 * @param onSay  after every reading: what it says and the seconds left.
 */
export async function watchCanary(
  watch: GuardWatch,
  seconds: number,
  signal: AbortSignal | undefined,
  onSay: (says: readonly GuardSay[], leftS: number) => void,
): Promise<WatchEnd> {
  let says: readonly GuardSay[] = []
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
