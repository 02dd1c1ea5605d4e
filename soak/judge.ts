/** Judges the record of a soak: each criterion with its value and its bound. Pure. */
import type { MemoryLook, SoakRecord } from './record.ts'

const MB = 2 ** 20

/**
 * Allowed growth of memory over the steady part of a run: the larger of a fraction of its level and a floor.
 *
 * Heap: after a forced collection the remainder varies by about 1 % (caches at different fill, a frame in progress, an export
 * under way); the floor of 3 MB covers the same for small runs. A leak below the bound over the jobs that end in the steady
 * part is not detected; the report states growth and bound per job, and a longer run detects a smaller leak. Outside of the
 * heap: rings of numbers, allocated whole, about 200 kB a job; a series of exports at once is below the floor. RSS: the same
 * and memory retained by the allocator; pages of half-empty arenas vary by some per cent, so it is judged more coarsely, as a
 * secondary check.
 *
 * A run that ends before all rings are full (`fullFromS`) is still filling them: a snapshot of the stages of some kB a sample,
 * counters of jobs, rows of locks. Measured 26 kB a sample of the heap at 500 jobs an hour; twice as much is allowed, so only a
 * large leak shows there.
 */
export const BOUNDS = {
  heap: { part: 0.03, floor: 3 * MB, fills: 52_000 },
  outside: { part: 0.04, floor: 8 * MB, fills: 52_000 },
  rss: { part: 0.1, floor: 48 * MB, fills: 2 * MB },
} as const

/** SQLite frees whole pages and is checked once a second; the growth of one second at the fastest pace can exceed the quota. */
const FILE_SLACK = 1.1
/** Wall-clock delays below this are attributed to the machine, ms. */
export const LATE_MS = 1_000
/** Minimum number of readings in the steady part for a slope. */
const LOOKS_LEAST = 5

export interface Verdict {
  readonly what: string
  readonly figure: string
  readonly bound: string
  readonly isOk: boolean
}

/** Theil-Sen slope: median of the slopes between all pairs, robust against single outliers; per second of x. */
export function slopeOf(xs: readonly number[], ys: readonly number[]): number {
  const slopes: number[] = []
  for (let i = 0; i < xs.length; i++) {
    for (let k = i + 1; k < xs.length; k++) {
      const run = (xs[k] as number) - (xs[i] as number)
      if (run > 0) slopes.push(((ys[k] as number) - (ys[i] as number)) / run)
    }
  }
  slopes.sort((a, b) => a - b)
  const half = slopes.length >> 1
  if (slopes.length === 0) return NaN
  return slopes.length % 2 === 1
    ? (slopes[half] as number)
    : ((slopes[half - 1] as number) + (slopes[half] as number)) / 2
}

const mb = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`
const list = (items: readonly (string | number)[], most = 5): string =>
  items.length <= most ? items.join(', ') : `${items.slice(0, most).join(', ')} and ${items.length - most} more`

const MEASURES = { heap: 'heap', outside: 'memory outside of the heap', rss: 'RSS' } as const

function memoryVerdict(r: SoakRecord, measure: keyof typeof BOUNDS): Verdict {
  const looks = r.memory.filter((m) => m.atS >= r.steadyFromS)
  const first = looks[0]
  const last = looks.at(-1)
  const what = `growth of the ${MEASURES[measure]} from second ${Math.round(r.steadyFromS)} on`
  if (!first || !last || looks.length < LOOKS_LEAST) {
    return { what, figure: `${looks.length} looks`, bound: `at least ${LOOKS_LEAST} looks`, isOk: false }
  }
  const of = (m: MemoryLook): number => m[measure]
  const level = looks.reduce((sum, m) => sum + of(m), 0) / looks.length
  const spanS = last.atS - first.atS
  const grown =
    slopeOf(
      looks.map((m) => m.atS),
      looks.map(of),
    ) * spanS
  const { part, floor, fills } = BOUNDS[measure]
  const filledForS = Math.min(spanS, Math.max(0, r.fullFromS - first.atS))
  const bound = Math.max(part * level, floor) + (fills * filledForS * 1000) / r.run.periodMs
  const ended = (spanS / r.run.seconds) * r.jobs.started
  const each = (bytes: number): string => (ended > 0 ? `, ${Math.round(bytes / ended)} B a job that ended` : '')
  return {
    what,
    figure: `${mb(grown)} at ${mb(level)}${each(grown)}`,
    bound: `at most ${mb(bound)}${each(bound)}${filledForS > 0 ? ', still filling' : ''}`,
    isOk: grown <= bound,
  }
}

const none = (what: string, found: readonly string[]): Verdict => ({
  what,
  figure: found.length === 0 ? 'none' : `${found.length}: ${list(found)}`,
  bound: 'none',
  isOk: found.length === 0,
})

function periodVerdicts({ samples, targets }: SoakRecord): Verdict[] {
  const sum = (of: (t: (typeof targets)[number]) => number): number => targets.reduce((n, t) => n + of(t), 0)
  const missed = targets.flatMap((t) => t.missed.map((s) => `${t.target} at ${s} s`))
  const expected = sum((t) => t.expected)
  return [
    {
      what: 'samples',
      figure: `${samples.taken} taken${samples.displaced.length > 0 ? `, displaced at ${list(samples.displaced)} s` : ''}`,
      bound: `${samples.expected}, one period apart`,
      isOk: samples.taken === samples.expected && samples.displaced.length === 0,
    },
    {
      what: 'periods of targets',
      figure:
        `${sum((t) => t.sampled)} measured and ${sum((t) => t.decided)} decided, ${sum((t) => t.excused)} with their server away` +
        (missed.length > 0 ? `; missed: ${list(missed)}` : ''),
      bound: `${expected}, with those of servers that were away`,
      isOk: expected > 0 && missed.length === 0,
    },
  ]
}

/** Returns a verdict on every criterion of a soak. */
export function judge(r: SoakRecord): Verdict[] {
  const lateMs = r.late[0]?.byMs ?? 0
  const { file } = r
  return [
    ...(['heap', 'outside', 'rss'] as const).map((m) => memoryVerdict(r, m)),
    ...periodVerdicts(r),
    {
      what: 'size of the history',
      figure: `${mb(file.mostUsed)} in use at most, ${mb(file.mostOnDisk)} on disk`,
      bound: `${mb(file.quota * FILE_SLACK)} in use`,
      isOk: file.mostUsed <= file.quota * FILE_SLACK,
    },
    none('errors', r.errors),
    none('plans that ended unknown', r.plans.unknown),
    {
      what: 'audit chain',
      figure: r.audit.broken === undefined ? `${r.audit.records} records` : `broken at record ${r.audit.broken}`,
      bound: 'whole, and not empty',
      isOk: r.audit.broken === undefined && r.audit.records > 0,
    },
    none('rules and timers left on servers', r.leftOnServers),
    none('what keeps the process', r.handles),
    {
      what: 'jobs in memory beyond the retention',
      figure: String(r.jobs.overdue),
      bound: 'none',
      isOk: r.jobs.overdue === 0,
    },
    {
      what: 'late samples',
      figure:
        r.late.length === 0
          ? 'none'
          : `${r.late.length}, the longest by ${Math.round(lateMs)} ms at ${r.late[0]?.atS} s`,
      bound: 'told; a slow machine is late and misses nothing',
      isOk: true,
    },
  ]
}

export const isPassed = (verdicts: readonly Verdict[]): boolean => verdicts.every((v) => v.isOk)

/** The report for a terminal. */
export function reportText(r: SoakRecord, verdicts: readonly Verdict[]): string {
  const { run, jobs, file, window } = r
  const pace = run.speed === null ? 'as fast as it goes' : `${run.speed}x asked`
  const troubles = Object.entries(r.troubles).map(([what, n]) => `${n} ${what}`)
  const evictions = Object.entries(file.evictions).map(([why, n]) => `${n} by ${why}`)
  return [
    `${run.seconds} emulated seconds in ${run.wallS.toFixed(0)} s (${pace}, ${run.reached.toFixed(1)}x reached), ${run.cpuS.toFixed(0)} s of processor time; a sample every ${run.periodMs} ms, seed ${run.seed}`,
    `${jobs.started} jobs started, ${jobs.seen} seen, ${jobs.most} in memory at most; forgotten after ${jobs.forgetS} idle seconds`,
    `troubles: ${list(troubles, 20)}`,
    `window: ${window.frames} frames of ${window.views} views, ${window.exports} exports, ${window.incidents} incidents; ${r.plans.sent} plans; ${file.evictedSamples} samples evicted (${list(evictions)})`,
    '',
    ...verdicts.map((v) => `${v.isOk ? 'ok    ' : 'FAILED'}  ${v.what}: ${v.figure} (${v.bound})`),
    '',
  ].join('\n')
}
