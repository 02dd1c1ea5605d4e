import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DLM_BASIC, DLM_DATATYPE, DLM_LUSTRE, SEQDLM, type DlmPolicy } from './policy.ts'
import type { Fault, Schedule, Step } from '#tests/kits/core/seqdlm/schedule.ts'
import { World } from '#tests/kits/core/seqdlm/world.ts'

/** `SLUICE_SCHEDULES=100000` for the long run. */
const RUNS = Number(process.env.SLUICE_SCHEDULES ?? 400)
const MODES = ['NBW', 'BW', 'PW'] as const

const small = (policy: DlmPolicy, alignBytes: number): DlmPolicy => ({
  ...policy,
  alignBytes,
  capBytes: 16,
  capAbove: 3,
})

/** @param reach  bytes at the start of the file that operations fall on. */
const step = (stripes: number, reach: number, kinds: readonly Step['kind'][]): fc.Arbitrary<Step> =>
  fc
    .record({
      client: fc.nat(3),
      thread: fc.nat(1),
      kind: fc.constantFrom(...kinds),
      offset: fc.nat(reach),
      length: fc.integer({ min: 1, max: Math.max(3, reach >> 1) }),
      mode: fc.option(fc.constantFrom(...MODES), { nil: undefined, freq: 4 }),
    })
    .map((s) => {
      // NBW guarantees nothing over several stripes, and a reader needs a mode that reads.
      const isAtomic = stripes > 1 && s.mode === 'NBW'
      return { ...s, mode: isAtomic || s.kind === 'read' ? (s.kind === 'read' && s.mode ? 'PW' : undefined) : s.mode }
    })

function schedules(policies: readonly DlmPolicy[], kinds: readonly Fault['kind'][]): fc.Arbitrary<Schedule> {
  const shape = fc.record({
    policy: fc.constantFrom(...policies),
    align: fc.constantFrom(1, 4),
    clients: fc.integer({ min: 1, max: 4 }),
    servers: fc.integer({ min: 1, max: 2 }),
    stripes: fc.integer({ min: 1, max: 3 }),
    stripeSize: fc.constantFrom(4, 8),
    reach: fc.constantFrom(1, 4, 16, 32),
    threshold: fc.constantFrom(0, 2, 1000),
    minDirtyBytes: fc.constantFrom(0, 8, 1000),
    maxDirtyBytes: fc.constantFrom(12, 1000),
    maxInFlight: fc.integer({ min: 1, max: 3 }),
    maxRpcBytes: fc.constantFrom(4, 16),
    maxCleanBytes: fc.constantFrom(0, 8, 1000),
    maxIdleLocks: fc.constantFrom(0, 1, 2, 1000),
  })
  return shape.chain(({ policy, align, clients, servers, stripes, stripeSize, reach, threshold, ...limits }) =>
    fc.record({
      policy: fc.constant(policy.datatype ? policy : small(policy, align)),
      clients: fc.constant(clients),
      servers: fc.constant(servers),
      stripes: fc.constant(stripes),
      stripeSize: fc.constant(stripeSize),
      threshold: fc.constant(threshold),
      limits: fc.constant(limits),
      program: fc.array(
        step(stripes, reach, ['write', 'write', 'read', 'read', 'atomic', 'append', 'truncate', 'fsync']),
        {
          minLength: 1,
          maxLength: 12,
        },
      ),
      choices: fc.array(fc.nat(1 << 20), { maxLength: 250 }),
      faults:
        kinds.length === 0
          ? fc.constant<Fault[]>([])
          : fc.array(fc.record({ at: fc.nat(150), kind: fc.constantFrom(...kinds), who: fc.nat(20) }), {
              maxLength: 3,
            }),
    }),
  )
}

function run(schedule: Schedule): void {
  const world = new World(schedule)
  try {
    world.run()
  } catch (error) {
    const { policy, clients, servers, stripes, stripeSize } = schedule
    const setting = `${policy.name}, ${clients} clients, ${servers} servers, ${stripes} stripes of ${stripeSize} bytes`
    throw new Error(`${(error as Error).message}\n${setting}\n${world.trace.join('\n')}`, { cause: error })
  }
}

const check = (arbitrary: fc.Arbitrary<Schedule>, runs = RUNS): void =>
  fc.assert(fc.property(arbitrary, run), { numRuns: runs, includeErrorInReport: true })

const ABLATIONS: readonly DlmPolicy[] = [
  { ...SEQDLM, name: 'without early revocation', earlyRevocation: false },
  { ...SEQDLM, name: 'without early grant', earlyGrant: false },
  { ...SEQDLM, name: 'without conversion', upgrade: false, downgrade: false },
  { ...SEQDLM, name: 'without queue limits', queueLimits: false },
]

describe('every invariant, in any order of events', () => {
  it('SeqDLM', () => check(schedules([SEQDLM], [])), 3_600_000)
  it('its ablations', () => check(schedules(ABLATIONS, [])), 3_600_000)
  it(
    'DLM-basic, DLM-Lustre, DLM-datatype',
    () => check(schedules([DLM_BASIC, DLM_LUSTRE, DLM_DATATYPE], [])),
    3_600_000,
  )
  it('with repeated messages and revocations that overtake their grants', () => {
    check(schedules([SEQDLM], ['repeat', 'repeat', 'overtake']))
  }, 3_600_000)
  it('with servers that crash', () => check(schedules([SEQDLM, DLM_BASIC], ['crash-server'])), 3_600_000)
  it('with clients and servers that crash', () => {
    check(schedules([SEQDLM], ['crash-client', 'crash-server', 'repeat']))
  }, 3_600_000)
})

it('finds the anomaly of Fig. 8 when writes over two stripes take NBW, and shrinks it', () => {
  const forced = schedules([SEQDLM], []).map((s) => ({
    ...s,
    stripes: 2,
    servers: 2,
    program: s.program.map((p) => ({
      ...p,
      kind: 'write' as const,
      offset: 0,
      length: 2 * s.stripeSize,
      mode: 'NBW' as const,
    })),
  }))
  expect(() => check(forced, 3000)).toThrow(/I7: no order explains/)
})
