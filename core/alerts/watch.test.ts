import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { COOL_DOWN_MS, ENTRIES_MOST, OPEN_MOST, type Entry } from './alert-store.ts'
import type { Figures } from './figures.ts'
import { DEFAULT_ALERT_RULES, type Rule } from './rules.ts'
import { AlertWatch } from './watch.ts'

const S = 1_000
let ids = 0
const newWatch = (rules: readonly Rule[] = DEFAULT_ALERT_RULES): AlertWatch => new AlertWatch(() => `a${++ids}`, rules)
const with_ = (change: Partial<Rule> & Pick<Rule, 'kind'>): Rule[] =>
  DEFAULT_ALERT_RULES.map((r) => (r.kind === change.kind ? { ...r, ...change } : r))

type At = Partial<Omit<Figures, 'servers'>> & {
  readonly queued?: readonly number[]
  readonly silent?: readonly number[]
}
const figures = (s: number, { queued = [10, 10, 10], silent = [], ...more }: At = {}): Figures => ({
  atMs: s * S,
  intervalMs: S,
  regime: 'none observe',
  servers: queued.map((q, i) => ({
    host: `oss0${i + 1}`,
    queued: silent.includes(i) ? NaN : q,
    silent: silent.includes(i) ? 'timed out' : '',
  })),
  ...more,
})
/** Runs one observation a second. */
function run(w: AlertWatch, fromS: number, toS: number, at: At | ((s: number) => At) = {}): string[] {
  const out: string[] = []
  for (let s = fromS; s < toS; s++) {
    const changes = w.look(figures(s, typeof at === 'function' ? at(s) : at))
    out.push(...changes.map((c) => `${c.what} ${c.entry.kind} ${c.entry.where}`))
  }
  return out
}
const open = (w: AlertWatch): Entry[] => w.entries.filter((e) => e.endMs === null)

describe('alert watch of a source', () => {
  it('reports a queue once, names the worst and counts the rest', () => {
    const w = newWatch()
    expect(run(w, 0, 140)).toEqual([])
    const changes = run(w, 140, 180, { queued: [400, 700, 10] })
    expect(changes[0]).toBe('opened queue oss02')
    expect(open(w)).toHaveLength(1)
    expect(open(w)[0]).toMatchObject({ kind: 'queue', where: 'oss02', others: 1 })
    expect(open(w)[0]?.text).toMatch(/^oss02: .* and 1 more$/)
    expect(run(w, 180, 220)).toEqual(['ended queue oss02'])
    expect(open(w)).toEqual([])
  })

  it('reports the silence of a server instead of its queue', () => {
    const w = newWatch()
    run(w, 0, 100)
    const changes = run(w, 100, 200, (s) => ({ queued: [900, 10, 10], silent: s >= 105 ? [0] : [] }))
    expect(changes).toEqual(['opened disconnect oss01'])
    expect(run(w, 200, 240, { queued: [900, 10, 10] })).toEqual(['ended disconnect oss01'])
  })

  it('reports a network outage once', () => {
    const w = newWatch()
    run(w, 0, 100)
    expect(
      run(w, 100, 200, (s) => ({ silent: s < 110 ? [1] : [0, 1, 2] })).filter((t) => t.startsWith('opened')),
    ).toHaveLength(1)
    expect(open(w)[0]?.text).toBe('none of 3 servers answers: timed out')
  })

  it('reports no short silence, and none right after the start or a suspend', () => {
    const w = newWatch()
    expect(run(w, 0, 25, { silent: [0] })).toEqual([])
    expect(run(w, 25, 60)).toEqual([])
    expect(run(w, 60, 70, { silent: [0] })).toEqual([])
    run(w, 70, 100)
    // The console host sleeps for an hour; connections come back one after the other.
    expect(run(w, 3_700, 3_735, { silent: [0, 1] })).toEqual([])
    expect(run(w, 3_735, 3_760)).toEqual([])
  })

  it('learns new baselines under another controller', () => {
    const w = newWatch()
    run(w, 0, 100)
    expect(run(w, 100, 400, { regime: 'adaptbf enforce', queued: [700, 700, 700] })).toEqual([])
  })

  it('reopens an alert that returns soon, and opens a new one later', () => {
    const w = newWatch(with_({ kind: 'disconnect', threshold: 1, forS: 5 }))
    run(w, 0, 60)
    const ends: number[] = []
    for (const fromS of [60, 100, 100 + COOL_DOWN_MS / S + 60]) {
      run(w, fromS, fromS + 20, { silent: [0] })
      run(w, fromS + 20, fromS + 40)
      ends.push(w.entries.length)
      for (let s = fromS + 40; s < fromS + 60 && fromS > 60; s++) w.look(figures(s))
      if (fromS === 100) run(w, 160, 100 + COOL_DOWN_MS / S + 60)
    }
    expect(ends).toEqual([1, 1, 2])
    expect(w.entries.map((e) => e.returns)).toEqual([0, 1])
  })

  it('ends alerts of disabled kinds, and all on close', () => {
    const w = newWatch()
    run(w, 0, 60)
    run(w, 60, 90, { silent: [0] })
    expect(open(w)).toHaveLength(1)
    expect(w.setRules(with_({ kind: 'disconnect', on: false }), 90 * S).map((c) => c.what)).toEqual(['ended'])
    expect(run(w, 90, 130, { silent: [0] })).toEqual([])
    w.setRules(DEFAULT_ALERT_RULES, 130 * S)
    expect(run(w, 130, 160, { silent: [0] })).toEqual(['reopened disconnect oss01'])
    expect(w.close(160 * S).map((c) => c.entry.endMs)).toEqual([160 * S])
  })

  it('is bounded for any input', () => {
    const w = newWatch(with_({ kind: 'convoy', threshold: 2, forS: 0 }))
    run(w, 0, 40)
    for (let i = 0; i < 400; i++) {
      const convoys = [{ key: `k${i}`, name: `${i} `.repeat(500), waiting: 50, per: 1, behind: 'PR' }]
      w.look(figures(40 + i * 70, { convoys }))
      w.look(figures(41 + i * 70, { convoys: i % 2 === 0 ? [] : convoys }))
    }
    expect(w.entries.length).toBeLessThanOrEqual(ENTRIES_MOST)
    expect(open(w).length).toBeLessThanOrEqual(OPEN_MOST)
    expect(Math.max(...w.entries.map((e) => e.text.length))).toBeLessThan(300)
  })

  it('raises and clears a measured level with the times of its rule, and groups subjects', () => {
    const w = newWatch(with_({ kind: 'mds', threshold: 500, forS: 15 }))
    const level = (a: number, b: number): At => ({
      levels: {
        mds: [
          { subject: 'mds01', where: 'mds01', value: a, text: () => `mds01 ${a}` },
          { subject: 'mds02', where: 'mds02', value: b, text: () => `mds02 ${b}` },
        ],
      },
    })
    expect(run(w, 0, 60, level(0, 0))).toEqual([])
    // 10 s above the threshold are too short, and a gap does not count as time.
    expect(run(w, 60, 70, level(600, 0))).toEqual([])
    expect(run(w, 70, 80, level(100, 0))).toEqual([])
    expect(run(w, 80, 90, level(600, 900))).toEqual([])
    expect(run(w, 90, 120, level(NaN, NaN))).toEqual([])
    // Changes of one entry show its newest state.
    expect(run(w, 120, 130, level(600, 900))).toEqual(['opened mds mds02', 'joined mds mds02'])
    expect(open(w)[0]?.text).toBe('mds02 900; and 1 more')
    // Between the threshold and the clear level it stays; a kind that is not measured does not end it.
    expect(run(w, 130, 170, level(300, 300))).toEqual([])
    expect(run(w, 170, 200)).toEqual([])
    expect(run(w, 200, 220, level(100, 100))).toEqual(['ended mds mds02'])
    expect(w.entries[0]?.endMs).toBe(200 * S)
  })

  const sequence = fc.array(
    fc.record({
      dt: fc.oneof(
        { weight: 20, arbitrary: fc.integer({ min: 200, max: 6_000 }) },
        { weight: 1, arbitrary: fc.constant(90_000) },
      ),
      queued: fc.array(fc.oneof(fc.constant(5), fc.integer({ min: 0, max: 3_000 }), fc.constant(NaN)), {
        minLength: 3,
        maxLength: 3,
      }),
      silent: fc.subarray([0, 1, 2]),
      waiting: fc.oneof(fc.constant(NaN), fc.integer({ min: 0, max: 60 })),
      missed: fc.oneof(fc.constant(NaN), fc.integer({ min: 0, max: 25 })),
      regime: fc.oneof({ weight: 30, arbitrary: fc.constant('a') }, { weight: 1, arbitrary: fc.constant('b') }),
    }),
    { minLength: 60, maxLength: 160 },
  )
  const atOf = (c: { waiting: number; missed: number; regime: string }): At => ({
    regime: c.regime,
    convoys: [{ key: 'r', name: 'r', waiting: c.waiting, per: 1, behind: 'PR' }],
    reservations: [{ node: 'dn', client: 'c', job: '', missed: c.missed, sinceMs: 0, completed: 1, reservation: 2 }],
  })

  it('begins before it ends and never has two open entries of one subject', () => {
    fc.assert(
      fc.property(sequence, (courses) => {
        const w = newWatch(with_({ kind: 'queue', forS: 5 }))
        let s = 60
        for (const c of courses) {
          s += c.dt / S
          for (const { what, entry } of w.look(figures(s, { ...atOf(c), queued: c.queued, silent: c.silent }))) {
            expect(entry.endMs === null).toBe(what !== 'ended')
          }
          for (const e of w.entries) expect(e.endMs ?? Infinity).toBeGreaterThanOrEqual(e.fromMs)
          for (const kind of ['convoy', 'reservation'] as const) {
            expect(open(w).filter((e) => e.kind === kind).length).toBeLessThanOrEqual(1)
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  it('neither begins nor ends alerts without measurements', () => {
    fc.assert(
      fc.property(
        sequence,
        fc.array(fc.integer({ min: 200, max: 9_000 }), { minLength: 5, maxLength: 60 }),
        (courses, gaps) => {
          const w = newWatch()
          let s = 60
          for (const c of courses) w.look(figures((s += c.dt / S), { ...atOf(c), queued: c.queued, silent: c.silent }))
          // Disconnects are measured by probing the servers; nothing is probed here.
          const before = w.entries.filter((e) => e.kind !== 'disconnect').map((e) => ({ ...e }))
          const none = { waiting: NaN, missed: NaN, regime: 'a' }
          for (const dt of gaps) w.look(figures((s += dt / S), { ...atOf(none), queued: [NaN, NaN, NaN] }))
          expect(w.entries.filter((e) => e.kind !== 'disconnect').map((e) => ({ ...e }))).toEqual(before)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('alerts about no more subjects under a higher threshold, and at no instant at which a lower one does not', () => {
    fc.assert(
      fc.property(sequence, fc.integer({ min: 1, max: 20 }), (courses, more) => {
        for (const kind of ['queue', 'convoy', 'reservation'] as const) {
          const [lax, strict] = [1, 1 + more].map((n) => newWatch(with_({ kind, threshold: 2 * n, forS: 5 })))
          let s = 60
          for (const c of courses) {
            s += c.dt / S
            for (const w of [lax, strict]) w?.look(figures(s, { ...atOf(c), queued: c.queued, silent: c.silent }))
            const isOn = (w: AlertWatch | undefined): boolean =>
              w?.entries.some((e) => e.kind === kind && e.endMs === null) ?? false
            expect(isOn(strict) && !isOn(lax)).toBe(false)
          }
        }
      }),
      { numRuns: 40 },
    )
  })
})
