import { describe, expect, it } from 'vitest'
import { SEQDLM, type DlmPolicy } from './policy.ts'
import type { Fault, Schedule, Step } from '#tests/kits/core/seqdlm/schedule.ts'
import { World } from '#tests/kits/core/seqdlm/world.ts'

/** Two clients over two stripes on two servers: conflicting writes, an atomic one, an upgrade, an append, a truncate, reads. */
const PROGRAM: readonly Step[] = [
  { client: 0, thread: 0, kind: 'write', offset: 0, length: 6 },
  { client: 1, thread: 0, kind: 'write', offset: 2, length: 12 },
  { client: 0, thread: 0, kind: 'write', offset: 4, length: 8 },
  { client: 1, thread: 0, kind: 'read', offset: 0, length: 16 },
  { client: 0, thread: 0, kind: 'read', offset: 0, length: 8 },
  { client: 1, thread: 0, kind: 'append', offset: 0, length: 3 },
  { client: 0, thread: 0, kind: 'truncate', offset: 10, length: 1 },
  { client: 1, thread: 0, kind: 'read', offset: 0, length: 16 },
]

const schedule = (faults: readonly Fault[], choices: readonly number[], policy: DlmPolicy = SEQDLM): Schedule => ({
  policy: { ...policy, alignBytes: 4 },
  clients: 2,
  servers: 2,
  stripes: 2,
  stripeSize: 8,
  threshold: 2,
  limits: { minDirtyBytes: 4, maxRpcBytes: 8 },
  program: PROGRAM,
  choices,
  faults,
})

/** Three orders of events: always the oldest, always the newest, and a mixture. */
const ORDERS: readonly (readonly [string, readonly number[]])[] = [
  ['oldest first', []],
  ['newest first', Array.from({ length: 400 }, () => 5039)],
  ['mixed', Array.from({ length: 400 }, (_, i) => (i * i * 31) % 5040)],
]

function lengthOf(choices: readonly number[]): number {
  const world = new World(schedule([], choices))
  world.run()
  return world.steps
}

describe.each(ORDERS)('%s', (_, choices) => {
  const steps = lengthOf(choices)

  it.each(['crash-server', 'crash-client'] as const)('a %s before every single step', (kind) => {
    expect(steps).toBeGreaterThan(60)
    for (let at = 0; at <= steps; at++) {
      for (const who of [0, 1]) new World(schedule([{ at, kind, who }], choices)).run()
    }
  })

  it('a server that crashes again while it recovers', () => {
    for (let at = 0; at <= steps; at += 3) {
      for (let again = 1; again <= 8; again++) {
        const faults: Fault[] = [at, at + again].map((t) => ({ at: t, kind: 'crash-server', who: 0 }))
        new World(schedule(faults, choices)).run()
      }
    }
  })

  it('a client that crashes while a server recovers', () => {
    for (let at = 0; at <= steps; at += 3) {
      for (let after = 0; after <= 8; after++) {
        const faults: Fault[] = [
          { at, kind: 'crash-server', who: 1 },
          { at: at + after, kind: 'crash-client', who: 0 },
        ]
        new World(schedule(faults, choices)).run()
      }
    }
  })
})

it('keeps what every client that lives wrote and what was flushed, though both servers crash', () => {
  const world = new World(
    schedule(
      [30, 60, 90].flatMap((at) => [0, 1].map((who) => ({ at, kind: 'crash-server' as const, who }))),
      [],
    ),
  )
  world.run()
  expect(world.operations.every((op) => op.respondedAt < Infinity)).toBe(true)
  expect(world.operations.find((op) => op.id === 8)?.seen.some(([, , value]) => value > 0)).toBe(true)
})
