import { describe, expect, it } from 'vitest'
import { verdictOf } from './admission-text.ts'
import { capacityEnds, capacityFacts, describeCapacity, placeCapacityMarks } from './capacity-model.ts'
import { eventRows, eventKinds, EVENTS_MOST, loudEvents } from './event-rows.ts'
import { footerChecks } from './footer-checks.ts'
import { admissionOf, allZero, NOW_MS, tokensFrame } from '#tests/kits/renderer/views/tokens-host.ts'
import { literalFaults, termOf, terms } from '../../help/meanings/token-terms.ts'

const base = tokensFrame()
const footOf = (patch: Partial<typeof base.foot>) =>
  new Map(footerChecks(tokensFrame({ foot: { ...base.foot, ...patch } })).map((f) => [f.id, f]))

describe('the footer', () => {
  it('has no warning while the scheme holds', () => {
    expect([...footOf({ worst: null }).values()].map((f) => f.level)).toEqual(['ok', 'ok', 'ok', 'idle'])
  })
  it('is bad as soon as one data I/O woke the CPU', () => {
    const cpu = footOf({ dataCpuEvents: 1 }).get('cpu')
    expect(cpu).toMatchObject({ level: 'bad', value: '1' })
    expect(cpu?.lines.join(' ')).toContain('must be 0')
  })
  it('watches a missed streak and is bad at the alert', () => {
    expect(footOf({}).get('missed')).toMatchObject({ level: 'watch', value: '3 of 10' })
    expect(footOf({ worst: { client: 'c07', periods: 10, alertAfter: 10 } }).get('missed')?.level).toBe('bad')
  })
  it('watches idle tokens beside a starved client', () => {
    expect(footOf({ idleShare: 0.05 }).get('idle')).toMatchObject({ level: 'watch', value: '5.0\u202F%' })
    expect(footOf({ idleShare: null }).get('idle')).toMatchObject({ level: 'idle', value: '\u2013' })
  })
  it('shows the limit of admission, shares that come too late, and overcommitment', () => {
    expect(footOf({}).get('reserved')).toMatchObject({
      level: 'idle',
      value: '1\u202F254 of 1\u202F568 k',
      lines: ['reserved,', 'maximum 1\u202F411 k'],
    })
    expect(footOf({ fluidFinish: 1.1 }).get('reserved')).toMatchObject({ level: 'watch' })
    expect(footOf({ fluidFinish: 1.1 }).get('reserved')?.lines[0]).toContain('met in 1.10 periods')
    expect(footOf({ reserved: 2_000_000 }).get('reserved')).toMatchObject({ level: 'bad' })
  })
  it('raises nothing for zeros', () => {
    expect(footerChecks(allZero()).some((f) => f.level === 'bad' || f.level === 'watch')).toBe(false)
  })
})

describe('capacity', () => {
  it('is drawn around the band, from 0 where values lie far apart', () => {
    expect(capacityEnds(base.capacity)).toMatchObject({ min: 1_200_000, step: 100_000 })
    const low = { ...base.capacity, used: base.capacity.used.map(() => 20_000) }
    expect(capacityEnds(low).min).toBe(0)
    expect(capacityEnds(allZero().capacity)).toEqual({ min: 0, max: 1000, step: 500 })
    const few = { ...base.capacity, profile: 3, estimate: [3], used: [2], reserved: [2] }
    expect(capacityEnds(few).step).toBeGreaterThanOrEqual(1)
  })
  it('shows the estimate as a share of the profile', () => {
    expect(capacityFacts(base)[0]).toMatchObject({ value: '1\u202F568 k', note: '100.0\u202F% of profile' })
    expect(capacityFacts(base)[2]?.value).toBe('rose by 15 700')
    expect(describeCapacity(base.capacity)).toContain('period 376 capacity falls 15 %')
    expect(describeCapacity({ ...base.capacity, estimate: [null] })).toContain('no estimate yet')
  })
  it('keeps labels of marks apart and inside', () => {
    const marks = [10, 11, 12, 98].map((epoch) => ({ epoch, text: 'capacity falls' }))
    const placed = placeCapacityMarks(marks, (e) => e * 3, 300)
    expect(placed.map((m) => m.line)).toEqual([0, 1, 2, 0])
    expect(placed.map((m) => m.isLeft)).toEqual([false, false, false, true])
  })
})

describe('admission', () => {
  const admission = (reservation: number) => admissionOf(base, { node: 'dn0', client: 'c07', reservation, limit: null })
  it('shows the reserved share of an admitted request, and the finishing time of equal shares', () => {
    const verdict = verdictOf(admission(120_000))
    expect(verdict).toMatchObject({
      level: 'ok',
      reserved: '1\u202F264\u202F000 of 1\u202F411\u202F000',
      isLate: false,
    })
    expect(verdict.fluid).toBe('97.2\u202F% of the period')
  })
  it('refuses with the limit and the excess, once', () => {
    const verdict = verdictOf(admission(500_000))
    expect(verdict).toMatchObject({ level: 'bad', label: 'Refused' })
    expect(verdict.reasons.map((r) => r.kind)).toEqual(['one client', 'data node', 'equal shares'])
    expect(verdict.reasons[0]?.text).toBe('100000 over what one client can do')
    expect(verdict.reasons[1]?.text).toBe('over what admission lets in, by 233\u202F000')
    expect(verdict.reasons.map((r) => r.isRefusal)).toEqual([true, true, false])
  })
  it('warns of an admitted reservation that cannot be met in time', () => {
    expect(verdictOf(admission(200_000))).toMatchObject({ level: 'watch', isLate: true })
  })
  it('reports a reservation that is in force', () => {
    expect(verdictOf(admission(110_000), true).label).toBe('In force')
    expect(verdictOf(admission(500_000), true)).toMatchObject({ level: 'watch' })
  })
  it('of a node that admits nothing has no NaN', () => {
    const none = { admit: false, reasons: [], reserved: 0, admissible: 0, fluidFinish: 0 }
    expect(verdictOf(none).reservedShare).toBe(0)
    expect(verdictOf({ ...none, reserved: 5 }).reservedShare).toBe(Infinity)
  })
})

describe('events', () => {
  it('are listed newest first, by kind, up to a bound', () => {
    expect(eventRows(base.events, '').rows.map((e) => e.kind)).toEqual([
      'alert',
      'estimator',
      'claim',
      'claim',
      'conversion',
      'period',
    ])
    expect(eventRows(base.events, 'claim').rows.map((e) => e.client)).toEqual(['c09', 'c07'])
    expect(eventKinds(base.events).find((k) => k.kind === 'claim')?.count).toBe(2)
    expect(loudEvents(base.events)).toBe(2)
    const many = Array.from({ length: 5000 }, (_, i) => ({
      atMs: NOW_MS + i,
      kind: 'claim',
      level: 'idle' as const,
      client: '',
      text: '',
    }))
    expect(eventRows(many, '').rows).toHaveLength(EVENTS_MOST)
    expect(eventRows(many, '').more).toBe(5000 - EVENTS_MOST)
  })
})

it('every term has a unit, a formula and its source; the literal preset its three faults', () => {
  for (const id of [
    'reservation',
    'limit',
    'left',
    'held',
    'yielded',
    'batch',
    'omega',
    'used',
    'missed',
    'pool',
    'fluid',
  ])
    expect(termOf(id)).toBeDefined()
  for (const t of terms) expect([t.unit, t.formula, t.means].every((text) => text !== '')).toBe(true)
  expect(literalFaults.map((f) => f.source)).toEqual([
    'Haechi, QoS engine',
    'Haechi, token conversion',
    'Haechi, capacity estimation',
  ])
})
