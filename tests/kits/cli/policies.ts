/** Two servers of a release for tests of `sluice policy`, and the plan in its printed form. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from '../../node/temp-folder.ts'

export const POLICIES = 'ost.OSS.ost_io.nrs_policies'
export const RULES = 'ost.OSS.ost_io.nrs_tbf_rule'
export const SERVERS = ['oss01', 'oss02'] as const

export interface Shown {
  readonly id: string
  readonly nodes: readonly { host: string; commands: string[]; inverse: string[]; lost: { other: string[] } }[]
  readonly lints: readonly { code: string; level: string; text: string }[]
  readonly ceilings: readonly object[]
  readonly blast: { servers: number; queued: number }
  readonly refused?: { code: string; message: string }
}

/** Servers of a release, under a job that always has RPCs waiting. */
export function scenarioOf(version: string): string {
  const text = JSON.stringify({
    title: 'Two servers',
    cluster: 'small',
    policy: 'fifo',
    clients: { count: 4 },
    oss: [1, 2].map((n) => ({
      name: `oss0${n}`,
      version,
      osts: [{ name: `small-OST000${n}`, disk: { bandwidth_mb_s: 1000, per_op_us: 20_000, channels: 4 } }],
    })),
    control: { max_rate: 200, period_ms: 500 },
    jobs: [
      {
        id: '1.hog.u1',
        clients: [1],
        processes: 8,
        op: 'write',
        size_kib: 64,
        pattern: { kind: 'continuous' },
      },
    ],
  })
  const path = join(tempFolder(), 'scenario.yaml')
  writeFileSync(path, text)
  return path
}
