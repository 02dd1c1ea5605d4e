import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COLORS, HUES } from '../base/categorical-color.ts'
import { fixedJobColors, JobColors } from './job-colors.ts'

const KEEP_MS = 600_000

function cluster() {
  const living = new Set<string>()
  const clock = { nowMs: 0 }
  const colors = new JobColors({ isLiving: (jobId) => living.has(jobId), nowMs: () => clock.nowMs })
  const start = (...jobIds: string[]): void => jobIds.forEach((jobId) => living.add(jobId))
  const end = (jobId: string): void => {
    if (living.delete(jobId)) colors.end(jobId)
  }
  return { living, clock, colors, start, end }
}

const names = (n: number, prefix = 'job'): string[] => Array.from({ length: n }, (_, i) => `${prefix}${i}`)

describe('any history of a cluster', () => {
  const jobId = fc.integer({ min: 0, max: 39 }).map((n) => `${n}.job`)
  const list = fc.uniqueArray(jobId, { maxLength: HUES })
  const step = fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('start' as const), jobId }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), jobId }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('show' as const), list }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: KEEP_MS }) }),
    },
  )

  it('a living job keeps its color, and new ones get colors that no living job has', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const c = cluster()
        /** Colors of living jobs since they became prominent. */
        const given = new Map<string, number>()
        for (const s of steps) {
          if (s.kind === 'start') c.start(s.jobId)
          else if (s.kind === 'end') {
            c.end(s.jobId)
            given.delete(s.jobId)
          } else if (s.kind === 'wait') c.clock.nowMs += s.ms
          else {
            const shown = s.list.filter((id) => c.living.has(id))
            const fresh = shown.filter((id) => c.colors.of(id) === 0)
            const held = new Set([...c.living].map((id) => c.colors.of(id)))
            const colors = c.colors.colors(shown)
            expect(colors.every((color) => Number.isInteger(color) && color >= 1 && color <= COLORS)).toBe(true)
            const freshColors = fresh.map((id) => c.colors.of(id))
            // Different ones within a call.
            expect(new Set(freshColors).size).toBe(fresh.length)
            const free = COLORS - [...held].filter((color) => color > 0).length
            // Those that ended a short time ago may have some of the free ones.
            const shared = freshColors.filter((color) => held.has(color)).length
            expect(shared).toBeLessThanOrEqual(Math.max(0, fresh.length - free + recent(c)))
            shown.forEach((id, i) => given.set(id, given.get(id) ?? (colors[i] as number)))
          }
          for (const [id, color] of given) expect(c.colors.of(id)).toBe(color)
        }
      }),
      { numRuns: 300 },
    )
  })

  /** Number of colored jobs that do not live. */
  const recent = (c: ReturnType<typeof cluster>): number =>
    c.colors.entries().filter(([id]) => !c.living.has(id)).length

  it('up to fourteen living jobs have different colors, whatever the order', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: COLORS }), fc.nat(), (jobIds, cut) => {
        const c = cluster()
        c.start(...jobIds)
        const at = jobIds.length === 0 ? 0 : cut % jobIds.length
        c.colors.colors(jobIds.slice(at))
        c.colors.colors(jobIds)
        expect(new Set(jobIds.map((id) => c.colors.of(id))).size).toBe(jobIds.length)
        // The first shades come first.
        if (jobIds.length <= HUES) expect(Math.max(0, ...jobIds.map((id) => c.colors.of(id)))).toBeLessThanOrEqual(HUES)
      }),
    )
  })
})

it('gives no color to a job that was never prominent, nor to the sum of the others', () => {
  const { colors, start } = cluster()
  start('a', 'b')
  expect(colors.of('a')).toBe(0)
  expect(colors.colors(['a', ''])).toEqual([colors.of('a'), 0])
  expect(colors.of('')).toBe(0)
  expect(colors.of('b')).toBe(0)
})

it('shares the color whose jobs were prominent longest ago when all are taken', () => {
  const { colors, start } = cluster()
  const first = names(COLORS)
  start(...first, 'new', 'newer')
  for (const jobId of first) colors.colors([jobId])
  // Shown again: the oldest are now job1 and job2.
  colors.colors(['job0'])
  const before = colors.entries()
  expect(colors.colors(['new', 'newer'])).toEqual([colors.of('job1'), colors.of('job2')])
  for (const [jobId, color] of before) expect(colors.of(jobId)).toBe(color)
})

it('does not repeat the color of a job of the same list, though that is the only one not living', () => {
  const { colors, start } = cluster()
  const living = names(COLORS - 1)
  start(...living)
  colors.colors(living)
  const [a, b] = colors.colors(['past1', 'past2'])
  expect(a).not.toBe(b)
})

describe('the color of a job that ended', () => {
  it('is kept for ten minutes, in which a job with its id gets it again', () => {
    const { colors, start, end, clock } = cluster()
    const all = names(COLORS)
    start(...all)
    colors.colors(all)
    const color = colors.of('job5')
    end('job5')
    clock.nowMs += KEEP_MS - 1
    start('new')
    colors.colors(names(4))
    // All colors are held: it shares one, and that of job5 is not free.
    colors.colors([...all.filter((id) => id !== 'job4' && id !== 'job5'), 'job5', 'new'])
    expect(colors.of('new')).toBe(colors.of('job4'))
    start('job5')
    expect(colors.colors(['job5'])).toEqual([color])
  })

  it('is free afterwards', () => {
    const { colors, start, end, clock } = cluster()
    const all = names(COLORS)
    start(...all)
    colors.colors(all)
    const color = colors.of('job5')
    end('job5')
    clock.nowMs += KEEP_MS
    start('new')
    expect(colors.colors(['new'])).toEqual([color])
    start('job5')
    expect(colors.of('job5')).toBe(0)
  })
})

it('prefers free colors to those of jobs that only the history has, and these to those of living jobs', () => {
  const { colors, start } = cluster()
  const past = names(HUES, 'past')
  colors.colors(past)
  const living = names(COLORS, 'living')
  start(...living)
  colors.colors(living.slice(0, HUES))
  const ofPast = new Set(past.map((id) => colors.of(id)))
  expect(living.slice(0, HUES).some((id) => ofPast.has(colors.of(id)))).toBe(false)
  colors.colors(living.slice(HUES))
  expect(new Set(living.map((id) => colors.of(id))).size).toBe(COLORS)
  // Nothing was taken away.
  expect(new Set(past.map((id) => colors.of(id)))).toEqual(ofPast)
})

it('gives mostly the same colors after a restart, in whatever order jobs become prominent', () => {
  const jobIds = Array.from({ length: 200 }, (_, i) => [`${4600 + 3 * i}.vasp.u${i % 9}`, `${5100 + i}.bwa.u${i % 7}`])
  const same = jobIds.filter(([a = '', b = '']) => {
    const [one, other] = [fixedJobColors(), fixedJobColors()]
    one.colors([a])
    one.colors([b])
    other.colors([b])
    other.colors([a])
    return one.of(a) === other.of(a) && one.of(b) === other.of(b)
  })
  expect(same.length).toBeGreaterThan(150)
})

it('forgets jobs that only were in the history', () => {
  const { colors, clock } = cluster()
  for (let i = 0; i < 6_000; i++) {
    clock.nowMs += 1_000
    colors.colors([`${i}.past`])
  }
  expect(colors.entries().length).toBeLessThan(3_000)
})

it('takes stored colors first, and changes none for them', () => {
  const colors = fixedJobColors()
  colors.restore('a', 12)
  colors.restore('a', 3)
  expect(colors.of('a')).toBe(12)
  expect(colors.colors(['b', 'a'])[1]).toBe(12)
})
