// The Locks view on running ccPFS servers: processes and real bytes, read by a local shell and over SSH.
import { execFile } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ok, type Result } from '#core/base/result.ts'
import { NS_PER_MS, NS_PER_S } from '#core/base/units.ts'
import type { Ccpfs, CcpfsFile } from '#electron/ccpfs/lib.ts'
import { System } from '#tests/kits/electron/ccpfs/processes.ts'
import { KeptRows } from '#tests/kits/electron/cluster/kept-rows.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { CcpfsReader } from './ccpfs-reader.ts'
import { LockCollector } from './lock-rows.ts'
import { LockWatch } from './watch.ts'
import { EventLog } from '../state/event-log.ts'
import { resourceFrame } from './resource-frame.ts'

const LAUNCHER = join(import.meta.dirname, '../../cli/sluice.mjs')
const LONG = { timeout: 120_000 }
/** Line breaks, markup, a terminal sequence, quotes, a right-to-left mark and text beyond ASCII. */
const HOSTILE = '/a\n<img src=x onerror=alert(1)>\u001b[31m\'"$(reboot)\u202eü'

let system: System
afterEach(() => system.stop())

function value<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.error))
  return result.value
}

/** Folder with `sluice`, as on the PATH of a node. */
function programs(): string {
  const file = join(system.folder, 'sluice')
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`)
  chmodSync(file, 0o755)
  return system.folder
}

/** Node whose shell is this machine's. */
function localNode(host = 'ccpfs01'): NodeConnection {
  const env = { ...process.env, PATH: `${programs()}:${process.env.PATH ?? ''}`, SLUICE_CCPFS: system.folder }
  return {
    host,
    roles: ['ccpfs'],
    exec: (command) =>
      new Promise((resolve) => {
        execFile('sh', ['-c', command], { env, encoding: 'latin1', maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
          resolve(ok({ stdout, stderr, code: typeof error?.code === 'number' ? error.code : 0 }))
        })
      }),
  }
}

/** Clock of a source that began now. */
function wallClock() {
  const startMs = Date.now()
  return { nowNs: () => (Date.now() - startMs) * NS_PER_MS, toUnixMs: (ns: number) => startMs + ns / NS_PER_MS }
}

/** Writers of one file, each every n-th block, not aligned to stripes. */
async function contend(clients: readonly Ccpfs[], path: string, rounds: number): Promise<void> {
  const files = await Promise.all(
    clients.map(async (fs): Promise<CcpfsFile> => value(await fs.open(path, { create: true }))),
  )
  const BYTES = 47_008
  await Promise.all(
    files.map(async (file, c) => {
      for (let i = 0; i < rounds; i++) {
        value(await file.write((files.length * i + c) * BYTES, Buffer.alloc(BYTES, c + 1)))
      }
    }),
  )
}

describe('a file that eight clients write', LONG, () => {
  it('shows grants, waiters, sequence numbers, names, clients and rows of history', async () => {
    system = await System.start()
    const clients = await Promise.all(Array.from({ length: 8 }, () => system.client()))
    const clock = wallClock()
    const reader = new CcpfsReader([localNode()], clock)
    const watch = new LockWatch(reader, new EventLog())
    const kept = new KeptRows(Infinity)
    const collector = new LockCollector(reader, clock, kept)
    await reader.refresh(0)
    expect(reader.failures).toEqual([])
    const beganNs = reader.seenNs
    await contend(clients, HOSTILE, 30)
    for (let i = 1; i <= 3; i++) {
      await reader.refresh(i * NS_PER_S)
      watch.look(i, clock.nowNs(), clock.toUnixMs(clock.nowNs()))
      collector.look(clock.nowNs())
    }
    const { trace } = reader
    const counts = trace.resources(reader.seenNs, reader.seenNs - beganNs)
    expect(counts.length).toBe(2)
    const [busiest] = counts
    expect(busiest).toMatchObject({ asked: expect.any(Number) as number })
    expect(counts.reduce((n, c) => n + c.grants, 0)).toBeGreaterThanOrEqual(2)
    expect(counts.reduce((n, c) => n + c.conflicts, 0)).toBeGreaterThan(0)
    // The trace and the servers count the same locks.
    for (const [n, server] of [0, 1].entries()) {
      const { locks } = await system.status('--server', system.address(server))
      const { unreleased } = locks as { unreleased: number }
      const found = counts.filter((c) => reader.describe(c.resource)?.server === `ccpfs01 / ${n}`)
      expect(found.reduce((sum, c) => sum + c.held, 0)).toBe(unreleased)
    }
    const resource = busiest?.resource ?? -1
    const { lives } = trace.lives(resource, 0, reader.seenNs, 10_000)
    const sns = lives.flatMap((l) => (l.mode === 'PR' ? [] : [l.sn ?? NaN]))
    expect(sns.length).toBeGreaterThan(0)
    expect(new Set(sns).size).toBe(sns.length)
    for (const l of lives) expect(l.grantedNs ?? l.askedNs).toBeGreaterThanOrEqual(l.askedNs)
    // Times are those of this clock: after the source began, and not later than now.
    expect(Math.min(...lives.map((l) => l.askedNs))).toBeGreaterThanOrEqual(beganNs)
    const frame = resourceFrame(
      reader,
      resource,
      { endNs: reader.seenNs, spanNs: 10 * NS_PER_S, livesMax: 400, messagesMax: 600 },
      clock.toUnixMs,
      { isFound: true, queue: { t: [], waiting: [] }, early: null },
    )
    expect(frame?.name.startsWith(HOSTILE)).toBe(true)
    expect(frame?.messageTimes).toBe('server')
    const LOCK_MESSAGES = ['lock-request', 'lock-grant', 'revoke', 'revoke-reply', 'release']
    expect(frame?.messages.kind).toEqual(expect.arrayContaining(LOCK_MESSAGES))
    expect(frame?.messages.kind.filter((kind) => ![...LOCK_MESSAGES, 'downgrade'].includes(kind))).toEqual([])
    expect(frame?.messages.sent).toEqual(frame?.messages.arrived)
    expect(frame?.clients.every((c) => c.name.endsWith(`:${process.pid}`))).toBe(true)
    expect(kept.sum('lock_servers', 'grants_per_s')).toBe(kept.sum('lock_resources', 'grants_per_s'))
    expect(reader.manager).toContain('SeqDLM, 2 servers on ccpfs01')
  })

  it('says that the servers do not answer, and continues with the next ones', async () => {
    system = await System.start()
    const clients = [await system.client(), await system.client()]
    const reader = new CcpfsReader([localNode()], wallClock())
    await contend(clients, '/f', 5)
    await reader.refresh(0)
    await system.servers[0]?.kill()
    await system.servers[1]?.kill()
    await system.metaDaemon?.kill()
    await reader.refresh(NS_PER_S)
    expect(reader.isSilent).toBe(true)
    expect(reader.failures.map((f) => f.code)).toEqual(['CCPFS_SILENT'])
    await system.startServer(0)
    await system.startServer(1)
    await system.startMeta()
    await contend([await system.client(), await system.client()], '/g', 5)
    await reader.refresh(2 * NS_PER_S)
    expect(reader.failures).toEqual([])
    const held = reader.trace.modes(reader.seenNs, NS_PER_S).reduce((n, m) => n + m.held, 0)
    const states = await Promise.all([0, 1].map((n) => system.status('--server', system.address(n))))
    expect(held).toBe(states.reduce((n, { locks }) => n + (locks as { unreleased: number }).unreleased, 0))
  })
})
