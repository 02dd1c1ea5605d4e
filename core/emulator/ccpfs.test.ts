// ccPFS of a scenario: locks under each manager, the recorded trace, and clients that stop answering.
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LockEvent } from '../seqdlm/lock-events.ts'
import type { Message } from '../seqdlm/messages.ts'
import type { TraceFeed } from '../seqdlm/trace/trace.ts'
import { Simulation } from '../sim/simulation.ts'
import { EmulatedCluster } from './cluster.ts'
import { CcpfsFiles } from './ccpfs-files.ts'
import { compareManagers } from './ccpfs-managers.ts'
import { CcpfsRun } from './ccpfs-run.ts'
import { parseScenario, type Scenario } from './scenario.ts'
import type { LockManagerName } from './scenario-ccpfs.ts'

const WORKLOADS = `
    - { job: a, file: ckpt, clients: [1, 2, 3, 4], processes: 10, readers: 2, pattern: strided, size_bytes: 47008,
        pace: { kind: bursts, operations: 10, every_s: 0.5 } }
    - { job: b, file: log, clients: [1, 2], pattern: append, size_bytes: 300 }
    - { job: c, file: vars, clients: [3, 4], pattern: spanning, size_bytes: 100000 }
    - { job: c, file: own, clients: [4], pattern: random, size_bytes: 4096 }
`

function scenario(workloads = WORKLOADS, more = ''): Scenario {
  const read = parseScenario(`title: Shared
clients: { count: 5 }
oss: [{ name: oss01, osts: [{ name: t-OST0000, disk: { bandwidth_mb_s: 1000 } }] }]
control: { max_rate: 100 }
ccpfs:
  servers: [p1, p2]
  costs: { device_mb_s: 400 }
  revocation_timeout_s: 1
  files:
    - { name: ckpt, stripes: 4, size_mib: 16 }
    - { name: log }
    - { name: vars, stripes: 2, stripe_kib: 256, size_mib: 8 }
    - { name: own, size_mib: 1 }
    - { name: "<img src=x onerror=alert(1)>; rm -rf $HOME" }
  workloads:${workloads}${more}
jobs: [{ id: z, clients: [5], op: read, size_kib: 4, pattern: { kind: poisson, rate: 1 } }]
`)
  if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
  return read.value
}

interface SentMessage {
  readonly at: number
  arrivedAt: number | undefined
  readonly link: string
  readonly message: Message
}

/** Trace feed that records every event. */
class Recorder implements TraceFeed {
  readonly events: LockEvent[] = []
  readonly messages: SentMessage[] = []
  readonly writes: { resource: number; sn: number; bytes: number }[] = []
  readonly observe: TraceFeed['observe'] = (_, event) => void this.events.push(event)
  readonly sent: TraceFeed['sent'] = (at, server, client, isUp, message) =>
    this.messages.push({ at, arrivedAt: undefined, link: `${server} ${client} ${isUp}`, message }) - 1
  readonly arrived: TraceFeed['arrived'] = (number, at) => {
    const sent = this.messages[number]!
    expect(sent.arrivedAt).toBeUndefined()
    sent.arrivedAt = at
  }
  readonly wrote: TraceFeed['wrote'] = (resource, sn, bytes) => void this.writes.push({ resource, sn, bytes })

  granted(from = 0): Extract<LockEvent, { kind: 'granted' }>[] {
    return this.events.filter((e) => e.kind === 'granted').filter((e) => e.at >= from)
  }
}

function run(
  seconds: number,
  { s = scenario(), seed = 1, manager }: { s?: Scenario; seed?: number; manager?: LockManagerName } = {},
) {
  const sim = new Simulation()
  const record = new Recorder()
  const { observe, wrote } = record
  const ccpfs = new CcpfsRun(sim, s.ccpfs!, { seed, manager, observe, wrote, messages: record })
  sim.runUntil(seconds * 1e9)
  return { sim, record, ccpfs }
}

test('same scenario and seed: the same steps and messages at the same instants; another seed: others', () => {
  const digest = (seed: number): string => JSON.stringify(Object.entries(run(1, { seed }).record))
  expect(digest(1)).toBe(digest(1))
  expect(digest(1)).not.toBe(digest(2))
})

test('tracing does not change the schedule', () => {
  const { sim, ccpfs } = run(2)
  const alone = new Simulation()
  const unseen = new CcpfsRun(alone, scenario().ccpfs!, { seed: 1 })
  alone.runUntil(2e9)
  expect(alone.executed).toBe(sim.executed)
  expect(unseen.uses).toEqual(ccpfs.uses)
})

test('each pattern uses its lock mode', () => {
  const { record, ccpfs } = run(2)
  const requested = new Map<string, Set<string>>()
  for (const e of record.events) {
    if (e.kind !== 'asked') continue
    const file = ccpfs.files.describe(e.resource)!.name.split(' / ')[0]!
    requested.set(file, (requested.get(file) ?? new Set()).add(e.mode))
  }
  expect(requested.get('ckpt')).toEqual(new Set(['NBW', 'PR', 'BW']))
  expect(requested.get('log')).toEqual(new Set(['PW']))
  expect(requested.get('vars')).toEqual(new Set(['BW']))
  expect(requested.get('own')).toEqual(new Set(['NBW']))
})

describe('lock managers', () => {
  test('SeqDLM grants early and revokes early; the others never, in two modes', () => {
    const early = (manager: LockManagerName) => {
      const granted = run(3, { manager }).record.granted()
      return {
        grants: granted.filter((e) => e.rule === 'early-grant').length,
        revocations: granted.filter((e) => e.state === 'CANCELING').length,
        modes: [...new Set(granted.map((e) => e.mode))].sort(),
      }
    }
    const seqdlm = early('seqdlm')
    expect(seqdlm.grants).toBeGreaterThan(50)
    expect(seqdlm.revocations).toBeGreaterThan(0)
    expect(seqdlm.modes).toEqual(['BW', 'NBW', 'PR', 'PW'])
    for (const manager of ['datatype', 'lustre', 'basic'] as const) {
      expect(early(manager)).toEqual({ grants: 0, revocations: 0, modes: ['PR', 'PW'] })
    }
  })

  test('are compared on the same work, which can be repeated', () => {
    const s = scenario()
    const all = compareManagers(s, { seconds: 3 })
    expect(all).toEqual(compareManagers(s, { seconds: 3 }))
    expect(all.map((o) => o.name)).toEqual(['SeqDLM', 'DLM-datatype', 'DLM-Lustre', 'DLM-basic'])
    const [seqdlm, , , basic] = all
    expect(seqdlm!.files[0]!.writeBps).toBeGreaterThan(1.3 * basic!.files[0]!.writeBps!)
    for (const o of all) {
      expect(o.writtenBytes).toBe(o.files.reduce((sum, f) => sum + f.writtenBytes, 0))
      expect(o.readBytes).toBe(o.files.reduce((sum, f) => sum + f.readBytes, 0))
      expect(o.files[4]).toMatchObject({ writtenBytes: 0, writeBps: null, readBps: null })
    }
    const [alone] = compareManagers(s, { managers: ['basic'], seconds: 3 })
    expect(alone).toEqual(basic)
    expect(compareManagers({ ...s, ccpfs: undefined }, { seconds: 3 })).toEqual([])
  })

  test('the longest wait counts a request that still waits', () => {
    const s = scenario(WORKLOADS, '\n  faults: [{ what: client-silent, client: 1, at_s: 1 }]')
    const [o] = compareManagers(s, { managers: ['basic'], seconds: 1.8 })
    expect(o).toMatchObject({ evictions: 0 })
    expect(o!.longestWaitNs).toBeGreaterThan(0.25e9)
  })
})

test('traces every message once, in order, and every byte under its SN', () => {
  const { record, ccpfs, sim } = run(2)
  const late = record.messages.filter((t) => t.arrivedAt === undefined && t.at < sim.now - 1e8)
  expect(late).toEqual([])
  const last = new Map<string, number>()
  for (const { at, arrivedAt, link, message } of record.messages) {
    if (arrivedAt === undefined) continue
    expect(arrivedAt).toBeGreaterThan(at)
    if (
      ['flush-request', 'flush-reply', 'read-request', 'read-reply', 'size-request', 'size-reply'].includes(
        message.kind,
      )
    )
      continue
    expect(arrivedAt).toBeGreaterThanOrEqual(last.get(link) ?? 0)
    last.set(link, arrivedAt)
  }
  // A lock server acts on a request at its arrival.
  const requestEvents = record.events.filter((e) => e.kind === 'asked')
  const requests = record.messages.filter((t) => t.message.kind === 'lock-request' && t.arrivedAt !== undefined)
  expect(requests.map((t) => t.arrivedAt).sort()).toEqual(requestEvents.map((e) => e.at).sort())
  expect(record.writes.reduce((sum, w) => sum + w.bytes, 0)).toBe(ccpfs.total.writtenBytes)
  const sns = new Set(record.granted().map((e) => `${e.resource} ${e.sn}`))
  expect(record.writes.every((w) => sns.has(`${w.resource} ${w.sn}`))).toBe(true)
})

describe('a client that stops answering', () => {
  const silent = (fault: string): Scenario => scenario(WORKLOADS, `\n  faults: [{ what: client-silent, ${fault} }]`)

  test('for less than the timeout keeps its locks, and the others wait for it', () => {
    const { record, ccpfs } = run(4, { s: silent('client: 1, at_s: 1, for_s: 0.7') })
    expect(ccpfs.evictions).toBe(0)
    expect(record.events.filter((e) => e.kind === 'evicted')).toEqual([])
    expect(Math.max(...record.granted().map((e) => e.waitedNs))).toBeGreaterThan(0.5e9)
    expect(record.granted(1.8e9).some((e) => e.client === 0)).toBe(true)
    // Messages that it missed arrive once it responds again.
    expect(record.messages.filter((t) => t.arrivedAt === undefined && t.at < 3.9e9)).toEqual([])
  })

  test('for longer is evicted, the others continue, and it returns without locks', () => {
    const { record, ccpfs, sim } = run(6, { s: silent('client: 1, at_s: 1, for_s: 2.5') })
    expect(ccpfs.evictions).toBeGreaterThanOrEqual(1)
    const evicted = record.events.filter((e) => e.kind === 'evicted')
    expect(new Set(evicted.map((e) => e.client))).toEqual(new Set([0]))
    const at = evicted[0]!.at
    expect(at).toBeGreaterThan(2e9)
    expect(at).toBeLessThan(2.5e9)
    const between = record.granted(at).filter((e) => e.at < 3.5e9)
    expect(between.length).toBeGreaterThan(20)
    expect(between.filter((e) => e.client === 0)).toEqual([])
    expect(record.granted(3.5e9).some((e) => e.client === 0)).toBe(true)
    // Messages sent before the eviction do not arrive after it, and no request is left waiting.
    const old = record.messages.filter((t) => t.at < at && t.link.split(' ')[1] === '0')
    expect(old.filter((t) => (t.arrivedAt ?? 0) > at)).toEqual([])
    for (const { locks } of ccpfs.cluster.servers) {
      for (const r of locks.resources())
        for (const w of r.waiters()) expect(sim.now - w.requestedAt).toBeLessThan(0.5e9)
    }
  })

  test('permanently is evicted once and does not return', () => {
    const { record, ccpfs } = run(6, { s: silent('client: 1, at_s: 1') })
    expect(ccpfs.evictions).toBe(1)
    expect(record.granted(2.5e9).filter((e) => e.client === 0)).toEqual([])
  })
})

test('a silent lock server grants nothing; its requests wait and are granted in order once it is back', () => {
  const fault = '\n  faults: [{ what: server-silent, server: p1, at_s: 1, for_s: 0.7 }]'
  const { record } = run(4, { s: scenario(WORKLOADS, fault) })
  const on = (server: number, from: number, to: number): number =>
    record.granted(from).filter((e) => e.resource % 2 === server && e.at < to).length
  expect(on(0, 0.9e9, 1e9)).toBeGreaterThan(0)
  expect(on(0, 1.001e9, 1.7e9)).toBe(0)
  expect(on(1, 1.001e9, 1.7e9)).toBeGreaterThan(0)
  expect(on(0, 1.7e9, 2.4e9)).toBeGreaterThan(0)
  expect(record.messages.filter((t) => t.arrivedAt === undefined && t.at < 3.9e9)).toEqual([])
})

describe('names', () => {
  const files = new CcpfsFiles(scenario().ccpfs!)

  test('of resources, their servers, and their workloads', () => {
    expect(Array.from({ length: files.resources + 1 }, (_, r) => files.describe(r))).toEqual([
      ...[0, 1, 2, 3].map((k) => ({
        name: `ckpt / ${k}`,
        server: `p${(k % 2) + 1}`,
        about: '8 writers, N-1 strided; 2 readers',
      })),
      { name: 'log / 0', server: 'p1', about: '2 writers, shared log' },
      { name: 'vars / 0', server: 'p2', about: '2 writers, across stripes' },
      { name: 'vars / 1', server: 'p1', about: '2 writers, across stripes' },
      { name: 'own / 0', server: 'p2', about: '1 writer, random offsets' },
      { name: '<img src=x onerror=alert(1)>; rm -rf $HOME / 0', server: 'p1', about: 'not in use' },
      undefined,
    ])
  })

  test('find what they name, and nothing else', () => {
    for (let r = 0; r < files.resources; r++) expect(files.find(files.describe(r)!.name)).toBe(r)
    for (const name of [
      '',
      'ckpt',
      'ckpt / 4',
      'ckpt / -1',
      'ckpt / 00',
      'ckpt / 1e0',
      'ckpt/0',
      '__proto__ / 0',
      ' / 0',
    ]) {
      expect(files.find(name), name).toBeUndefined()
    }
  })
})

describe('in the emulated cluster', () => {
  const builtIn = (name: string): Scenario => {
    const read = parseScenario(readFileSync(new URL(`../../resources/scenarios/${name}.yaml`, import.meta.url), 'utf8'))
    if (!read.ok) throw new Error(`${read.error.what}: ${read.error.why}`)
    return read.value
  }

  test('the console sees the lifetimes of locks under the names of files and clients', () => {
    const cluster = new EmulatedCluster(scenario())
    cluster.sim.runUntil(1.2e9)
    const locks = cluster.ccpfs!
    expect(locks.manager).toBe('SeqDLM, 2 servers, clients evicted after 1 s')
    expect([-1, 0, 2].map((c) => locks.client(c))).toEqual([
      { name: 'server', jobId: '' },
      { name: 'cn01', jobId: 'a' },
      { name: 'cn03', jobId: 'a' },
    ])
    const counts = locks.trace.resources(1.2e9, 1.2e9)
    expect(counts.map((r) => locks.describe(r.resource)?.name)).toEqual(
      expect.arrayContaining(['ckpt / 0', 'ckpt / 3', 'log / 0', 'vars / 1', 'own / 0']),
    )
    const { lives } = locks.trace.lives(locks.find('ckpt / 0')!, 0, 1.2e9, 1000)
    expect(lives.some((l) => l.isEarlyGrant)).toBe(true)
    const written = lives.filter((l) => l.ending === 'released' && l.mode !== 'PR' && l.endedNs! < 1.1e9)
    expect(written.length).toBeGreaterThan(10)
    // A lock is released when all data written under it is on the server.
    expect(written.filter((l) => l.bytes < l.writtenBytes || l.dataNs! > l.endedNs!)).toEqual([])
    expect(new EmulatedCluster({ ...scenario(), ccpfs: undefined }).ccpfs).toBeUndefined()
  })

  test('Lustre’s jobs are not affected by it', () => {
    const served = (s: Scenario): number[] => {
      const cluster = new EmulatedCluster(s)
      cluster.sim.runUntil(3e9)
      return cluster.jobs.map((j) => j.servedRpcs)
    }
    const demo = builtIn('demo')
    expect(Math.min(...served(demo).slice(0, 2))).toBeGreaterThan(0)
    expect(served(demo)).toEqual(served({ ...demo, ccpfs: undefined }))
  })

  test('the demo has a convoy behind readers, and a log that changes hands', () => {
    // Runs without the Lustre jobs, which do not affect it.
    const demo = builtIn('demo')
    const cluster = new EmulatedCluster({ ...demo, jobs: demo.jobs.slice(0, 1), haechi: [] })
    cluster.sim.runUntil(16e9)
    const locks = cluster.ccpfs!
    const { trace } = locks
    const longest = [0, 1, 2, 3].map((k) => Math.max(...trace.queue(locks.find(`ckpt.h5 / ${k}`)!, 0, 16e9, 1)))
    expect(Math.max(...longest)).toBeGreaterThanOrEqual(8)
    const names = (kind: string, at: number) =>
      trace
        .conditions(at)
        .filter((a) => a.kind === kind)
        .map((a) => locks.describe(a.resource)?.name)
    const seconds = Array.from({ length: 13 }, (_, k) => (k + 3) * 1e9)
    expect(seconds.filter((at) => names('ping-pong', at).includes('run.log / 0')).length).toBeGreaterThan(3)
    const convoys = [0, 1, 2, 3].flatMap((k) => {
      const at = trace.busiest(locks.find(`ckpt.h5 / ${k}`)!, 16e9, 1e6, 15e9)!
      return trace.conditions(at).filter((a) => a.kind === 'convoy' && a.waiting >= 8 && a.behindMode === 'PR')
    })
    expect(convoys.length).toBeGreaterThan(0)
  })

  test('a silent client shows as a risk of eviction before it is evicted', () => {
    const cluster = new EmulatedCluster(
      scenario(WORKLOADS, '\n  faults: [{ what: client-silent, client: 1, at_s: 1, for_s: 3 }]'),
    )
    cluster.sim.runUntil(1.9e9)
    const locks = cluster.ccpfs!
    const risk = locks.trace.conditions(1.9e9).find((a) => a.kind === 'eviction')
    expect(risk).toMatchObject({ client: 0, timeoutNs: 1e9 })
    expect(risk!.ageNs).toBeGreaterThan(0.3e9)
    cluster.sim.runUntil(3e9)
    const { lives } = locks.trace.lives(locks.find('ckpt / 0')!, 0, 3e9, 5000)
    expect(lives.filter((l) => l.ending === 'evicted').map((l) => l.client)).toContain(0)
  })

  test('the gallery’s convoy meets its faults', () => {
    const s = builtIn('shared-file-convoy')
    const { faults } = s.ccpfs!
    expect(faults.map((f) => f.for_s)).toEqual([12, 60])
    // Faults minutes earlier than in the gallery; nothing else changes in between.
    const at = [20, 40]
    const sim = new Simulation()
    const ccpfs = new CcpfsRun(
      sim,
      { ...s.ccpfs!, faults: faults.map((f, i) => ({ ...f, at_s: at[i]! })) },
      { seed: s.seed },
    )
    sim.runUntil(40e9)
    expect(ccpfs.evictions).toBe(0)
    sim.runUntil(100e9)
    expect(ccpfs.evictions).toBe(1)
  })
})

test('operations stay in their part of the file', () => {
  const stripe = 256 * 1024
  const shapes = fc.record({
    pattern: fc.constantFrom('strided', 'segmented', 'random', 'read', 'spanning'),
    size: fc.integer({ min: 2, max: 200_000 }),
    processes: fc.integer({ min: 1, max: 6 }),
    offset: fc.integer({ min: 0, max: 6 }),
    seed: fc.nat(),
  })
  fc.assert(
    fc.property(shapes, ({ pattern, size, processes, offset, seed }) => {
      const s = scenario(
        `\n    - { job: a, file: vars, clients: [1], processes: ${processes}, pattern: ${pattern}, size_bytes: ${size},
        offset_mib: ${offset}, span_mib: 2, pace: { kind: bursts, operations: 5, every_s: 10 } }\n`,
      )
      const { record, ccpfs } = run(1, { s, seed })
      expect(ccpfs.total.writtenBytes + ccpfs.total.readBytes).toBe(5 * processes * size)
      for (const e of record.events) {
        if (e.kind !== 'asked') continue
        // With two stripes, each holds half of the file.
        expect(e.range.start).toBeGreaterThanOrEqual(offset * 2 * stripe)
        expect(e.range.end).toBeLessThan((offset + 2) * 2 * stripe)
        if (pattern === 'spanning') expect(e.mode).toBe('BW')
      }
    }),
    { numRuns: 60 },
  )
})
