/** Host whose clients contend for the stripes of a file on ccPFS, driven by virtual time. For tests. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import type { LocksFrame } from '#core/api/locks.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import { tempFolder } from './temp-folder.ts'

export const EPOCH_S = 1_767_225_600

const FILE = { name: 'ckpt.h5', stripes: 4, stripe_kib: 1024, size_mib: 64 }
const WRITERS = {
  job: 'ckpt',
  file: 'ckpt.h5',
  clients: [1, 2, 3, 4, 5, 6, 7, 8],
  processes: 16,
  readers: 2,
  pattern: 'strided',
  size_bytes: 47_008,
  pace: { kind: 'bursts', operations: 6, every_s: 2 },
}

/**
 * Scenario text: one slow OST that is nearly unused, a file of four stripes that fourteen processes write and two read.
 *
 * @param ccpfs  overrides of the section; null: omitted.
 */
export const lockedScenario = (ccpfs: object | null = {}): string =>
  JSON.stringify({
    title: 'Locked',
    cluster: 'locked',
    clients: { count: 8 },
    oss: [{ name: 'oss01', osts: [{ name: 't-OST0000', disk: { bandwidth_mb_s: 100 } }] }],
    control: { max_rate: 100, mode: 'observe', controller: 'none' },
    jobs: [{ id: 'quiet', clients: [1], op: 'write', size_kib: 64, pattern: { kind: 'poisson', rate: 5 } }],
    ...(ccpfs && {
      ccpfs: { servers: ['ds01', 'ds02'], costs: { rtt_us: 1000 }, files: [FILE], workloads: [WRITERS], ...ccpfs },
    }),
  })

export async function lockedHost(ccpfs: object | null = {}) {
  const scenarioFile = join(tempFolder(), 'locked.yaml')
  writeFileSync(scenarioFile, lockedScenario(ccpfs))
  const opened = await openHost({
    shell: 'terminal',
    historyFile: ':memory:',
    paced: false,
    epochSeconds: EPOCH_S,
    scenarioFile,
  })
  if (!opened.ok) throw new Error(`${opened.error.what}: ${opened.error.why}`)
  const host: Host = opened.value
  const client = createRouterClient(host.router, { context: { peer: 'test' } })
  let frames = 0
  return {
    host,
    client,
    run: (toSecond: number): Promise<void> => host.source.runTo(toSecond * NS_PER_S, (atNs) => host.monitor.tick(atNs)),
    /** Latest frame of the locks view, or that of a sample. */
    async frame(query: Partial<Parameters<typeof client.views.locks>[0]> = {}): Promise<LocksFrame> {
      const stream = await client.views.locks({ stream: `l${++frames}`, windowMs: 60_000, ...query })
      for await (const frame of stream) return frame
      throw new Error('no frame')
    },
  }
}
