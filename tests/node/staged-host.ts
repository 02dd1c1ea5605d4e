/** Host on a small cluster whose jobs run under PADLL, driven by virtual time. For tests. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRouterClient } from '@orpc/server'
import { NS_PER_S } from '#core/base/units.ts'
import type { MetadataFrame } from '#core/api/padll.ts'
import { openHost, type Host } from '#electron/host/host.ts'
import { tempFolder } from './temp-folder.ts'

export const EPOCH_S = 1_767_225_600

export interface StagedJob {
  readonly id: string
  readonly clients?: readonly number[]
  readonly start_s?: number
  readonly stop_s?: number
  /** Operations of each of its four processes, per second. */
  readonly rate?: number
}

export interface Staged {
  readonly jobs: readonly StagedJob[]
  readonly padll?: object
  readonly mode?: 'observe' | 'advise' | 'enforce'
}

/** Scenario text: one slow OST that is unused, one fast MDT. */
function scenarioOf({ jobs, padll = {}, mode = 'enforce' }: Staged): string {
  return JSON.stringify({
    title: 'Staged',
    cluster: 'staged',
    clients: { count: 4 },
    oss: [{ name: 'oss01', osts: [{ name: 't-OST0000', disk: { bandwidth_mb_s: 100 } }] }],
    mds: [{ name: 'mds01', mdts: [{ name: 't-MDT0000', per_op_us: 50 }] }],
    control: { max_rate: 100, mode, controller: 'none' },
    padll: { system_limits: { meta_op: 200 }, lease: { seconds: 2 }, ...padll },
    jobs: jobs.map(({ rate = 100, ...j }) => ({
      clients: [1, 2],
      processes: 4,
      outstanding: 1024,
      op: 'stat',
      stages: {},
      pattern: { kind: 'poisson', rate },
      ...j,
    })),
  })
}

export async function stagedHost(staged: Staged) {
  const scenarioFile = join(tempFolder(), 'staged.yaml')
  writeFileSync(scenarioFile, scenarioOf(staged))
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
  const { padll } = host.source.emulator
  if (!padll) throw new Error('no stages')
  let frames = 0
  return {
    host,
    client,
    padll,
    run: (toSecond: number): Promise<void> => host.source.runTo(toSecond * NS_PER_S, (atNs) => host.monitor.tick(atNs)),
    /** Latest frame of the metadata view, or that of a sample. */
    async frame(query: Partial<Parameters<typeof client.views.metadata>[0]> = {}): Promise<MetadataFrame> {
      const stream = await client.views.metadata({ stream: `m${++frames}`, windowMs: 60_000, ...query })
      for await (const frame of stream) return frame
      throw new Error('no frame')
    },
  }
}
