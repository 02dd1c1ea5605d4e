/** Model test of enforcement: invariants and transitions of docs/enforcement-model.md under random actions and faults. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { World, type Machine, type SimulatedConsole } from '#tests/kits/electron/enforce/world.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Operator actions and faults, by name. */
const ACTIONS: Readonly<Record<string, (c: SimulatedConsole) => Promise<void> | void>> = {
  enforce: (c) => c.enforce(false),
  'take over': (c) => c.enforce(true),
  observe: (c) => c.observe(),
  stop: (c) => c.stop(),
  commit: (c) => c.commit('sl_night', 40, 20),
  kill: (c) => c.kill(),
  'lose the line for 3 s': (c) => c.break(3_000),
  'lose the line for 40 s': (c) => c.break(40_000),
  'answers come late': (c) => c.endure({ thereMs: 5, backMs: 12_000 }),
  'commands come late': (c) => c.endure({ thereMs: 8_000, backMs: 5 }),
  'rules come very late': (c) => c.endure({ thereMs: 25_000, backMs: 5, only: /nrs_tbf_rule=.*(?:start|change)/ }),
  'timers come late': (c) => c.endure({ thereMs: 15_000, backMs: 5, only: /systemd-run|systemctl stop/ }),
  'a fair line': (c) => c.endure({ thereMs: 5, backMs: 5 }),
}

interface Step {
  readonly who: number
  readonly what: string
  readonly afterMs: number
}

/** Ends 75 s after the last step, when every lease has expired or was renewed. */
async function play(steps: readonly Step[]): Promise<World> {
  const world = new World(['ada@desk', 'eve@far'])
  const running: Promise<void>[] = []
  await world.run(6_000)
  for (const { who, what, afterMs } of steps) {
    const c = world.consoles[who] as SimulatedConsole
    world.note(`${c.user}: ${c.isRunning ? what : 'starts'}`)
    if (c.isRunning) running.push(Promise.resolve(ACTIONS[what]?.(c)))
    else c.start()
    await world.run(afterMs)
  }
  await world.run(75_000)
  return world
}

/** Rows of a state machine in the document: from, to. */
function transitions(machine: string): [string, string][] {
  const text = readFileSync(new URL('../../docs/enforcement-model.md', import.meta.url), 'utf8')
  const part = text.split(/^## /m).find((p) => p.startsWith(machine)) ?? ''
  return [...part.matchAll(/^\| ([a-z ]+?) \| ([a-z ]+?) \|/gm)]
    .map(([, from = '', to = '']): [string, string] => [from, to])
    .filter(([from]) => from !== 'from')
}

/** Observed transitions that the document does not list. Leases are sampled, so two transitions may appear as one. */
function unknownIn(world: World, machine: Machine): string[] {
  const table = transitions(machine === 'lease' ? 'Lease' : 'Commit')
  const steps = new Set(table.map(([from, to]) => `${from} > ${to}`))
  const twice = table.flatMap(([from, by]) => table.flatMap(([at, to]) => (at === by ? `${from} > ${to}` : [])))
  const known = machine === 'lease' ? new Set([...steps, ...twice]) : steps
  return [...world.seen[machine]].filter((s) => !known.has(s))
}

function mustHold(world: World): void {
  const found = [
    ...world.faults,
    ...unknownIn(world, 'lease').map((s) => `a lease went ${s}`),
    ...unknownIn(world, 'commit').map((s) => `a commit went ${s}`),
  ]
  expect(found.length === 0 ? [] : [...found, ...world.log]).toEqual([])
}

describe('two consoles on one cluster', () => {
  it('hold every invariant in whatever order things happen to them', { timeout: 3_600_000 }, async () => {
    const step = fc.record({
      who: fc.nat(1),
      what: fc.constantFrom(...Object.keys(ACTIONS)),
      afterMs: fc.constantFrom(10, 100, 500, 2_000, 5_000, 15_000),
    })
    const numRuns = process.env.SLUICE_LAB === 'full' ? 300 : 6
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
        mustHold(await play([{ who: 0, what: 'enforce', afterMs: 2_000 }, ...steps]))
      }),
      { numRuns, endOnFailure: process.env.SLUICE_LAB === 'full' },
    )
  })

  it('enforce, renew and commit as documented', async () => {
    const world = await play([
      { who: 0, what: 'enforce', afterMs: 5_000 },
      { who: 1, what: 'commit', afterMs: 40_000 },
      { who: 0, what: 'observe', afterMs: 5_000 },
    ])
    mustHold(world)
    expect([...world.seen.commit]).toEqual(
      expect.arrayContaining(['waiting > timer', 'timer > sending', 'sending > reading back', 'reading back > done']),
    )
    expect([...world.seen.lease].some((s) => s.endsWith('> held'))).toBe(true)
  })

  it.each([
    ['a stop elsewhere', 'stop'],
    ['a take-over', 'take over'],
  ])('a start that was on its way when its console was killed does nothing after %s', async (_, what) => {
    const world = await play([
      { who: 0, what: 'rules come very late', afterMs: 10 },
      { who: 0, what: 'enforce', afterMs: 7_000 },
      { who: 0, what: 'kill', afterMs: 10 },
      { who: 1, what, afterMs: 30_000 },
    ])
    mustHold(world)
    expect(world.log.some((l) => l.includes(' start st_'))).toBe(true)
  })

  it('one that only shows its plans yet is found by a stop elsewhere, and writes nothing after it', async () => {
    const world = await play([
      { who: 0, what: 'enforce', afterMs: 2_500 },
      { who: 1, what: 'stop', afterMs: 30_000 },
    ])
    mustHold(world)
    expect(world.log.filter((l) => /^\S+ eve@far is told/.test(l))).toEqual([
      expect.stringContaining('eve@far is told stopped') as string,
    ])
    expect(world.ours('oss01')).toEqual([])
    expect(world.consoles[0]?.console.monitor.loop.leaveReason?.code).toBe('LEASE_TAKEN')
  })

  it('that enter enforce at the same instant do not both enforce', async () => {
    const world = await play([
      { who: 0, what: 'enforce', afterMs: 0 },
      { who: 1, what: 'enforce', afterMs: 30_000 },
    ])
    mustHold(world)
    const modes = world.consoles.map((c) => c.console.monitor.loop.mode)
    expect(modes.filter((m) => m === 'enforce').length).toBeLessThan(2)
  })

  it('a rule that came while its console was displaced goes before the timer that covers it meanwhile', async () => {
    const world = new World(['ada@login1', 'eve@login2'])
    const [ada, eve] = world.consoles as [SimulatedConsole, SimulatedConsole]
    await world.run(6_000)
    const entering = ada.enforce(false)
    await world.run(8_000)
    await entering
    const [late = ''] = world.ours('oss01')
    expect(late).not.toBe('')
    ada.kill()
    world.byOthers('oss01', `stop ${late}`)
    const executed = world.executed.bind(world)
    let isBack = false
    world.executed = (host, command) => {
      if (host === 'oss01' && !isBack && command.includes('sluice-take-') && command.includes('systemd-run')) {
        isBack = true
        world.byOthers('oss01', `start ${late} jobid={1.hog.u1} rate=50`)
      }
      executed(host, command)
    }
    const taking = eve.enforce(true)
    await world.run(30_000)
    await taking
    expect(isBack).toBe(true)
    mustHold(world)
  })

  it('a start that is later than the life of its lease does nothing', async () => {
    const world = new World(['ada@desk'])
    const [ada] = world.consoles as [SimulatedConsole]
    await world.run(6_000)
    ada.endure({ thereMs: 70_000, backMs: 5, only: / start / })
    const entering = ada.enforce(false)
    await world.run(8_000)
    ada.kill()
    await world.run(80_000)
    await Promise.race([entering, Promise.resolve()])
    mustHold(world)
    expect(world.log.filter((l) => l.includes(' start st_'))).toHaveLength(2)
    expect(world.ours('oss01')).toEqual([])
  })
})
