/** A server that answers late makes gaps: `watch` never prints a 0 that was not measured, and no sample twice. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab, type Lab } from '../lab/lab.ts'
import { noServers } from '../lab/nspawn.ts'
import { ConsoleFolder, isFull } from './lab.ts'

/** Seconds to watch. */
const WATCH_S = isFull ? 600 : 25

const SCENARIO = `title: Late
cluster: late
clients: { count: 2 }
control: { max_rate: 200, mode: observe }
oss:
  - { name: oss01, osts: [{ name: late-OST0000, disk: { bandwidth_mb_s: 20 } }] }
  - { name: oss02, osts: [{ name: late-OST0001, disk: { bandwidth_mb_s: 20 } }] }
jobs:
  - { id: "1.hog.u1001", clients: [1], op: write, size_kib: 64, total_rpcs: 100000000, targets: [late-OST0000], pattern: { kind: continuous } }
  - { id: "2.far.u1002", clients: [2], op: write, size_kib: 64, total_rpcs: 100000000, targets: [late-OST0001], pattern: { kind: continuous } }
`

/** Every fourth reading of oss01 takes up to three seconds longer. */
const SLOW = [
  'PATH=${PATH#*:}',
  'case "$*" in get_param*job_stats*) ;; *) exec lctl "$@" ;; esac',
  'r=$(od -An -N2 -tu2 /dev/urandom)',
  '[ "$(hostname)" != oss01 ] || [ $((r % 4)) -ne 0 ] || sleep "$((r / 4 % 3)).$((r / 16 % 10))"',
  'exec lctl "$@"',
].join('\n')

const line = z.object({
  t: z.number(),
  partial: z.literal(true).optional(),
  targets: z.record(z.string(), z.unknown()),
  jobs: z.array(z.object({ job_id: z.string(), rate: z.number().nullish() })),
})

describe.skipIf(noServers !== '')('readings that are late', () => {
  let lab: Lab
  beforeAll(async () => {
    const scenario = join(scratch(), 'late.yaml')
    writeFileSync(scenario, SCENARIO)
    lab = await startLab({ parts: 'nspawn', scenario, programs: { lctl: SLOW } })
  })
  afterAll(async () => lab?.stop())

  it('are gaps, never zeros, and no sample is printed twice', { timeout: (WATCH_S + 240) * 1000 }, async () => {
    const watched = await new ConsoleFolder(lab).run('watch', lab.cluster, '--json', '--for', String(WATCH_S))
    expect(watched.code, watched.stderr).toBe(0)
    const lines = watched.stdout
      .trim()
      .split('\n')
      .map((text) => line.parse(JSON.parse(text)))
    expect(lines.length).toBeGreaterThan(WATCH_S / 6)
    const rates = lines.flatMap((l) => l.jobs.map((j) => ({ t: l.t, id: j.job_id, rate: j.rate })))
    expect(rates.filter((r) => r.rate === 0)).toEqual([])
    const times = lines.map((l) => l.t)
    expect(new Set(times).size).toBe(times.length)
    // Otherwise nothing was late.
    const partial = lines.filter((l) => l.partial)
    expect(partial.length).toBeGreaterThan(0)
    for (const l of partial) expect(Object.keys(l.targets).length, JSON.stringify(l)).toBeLessThan(2)
    // Measured values are kept: the far server is never late.
    expect(rates.filter((r) => r.id === '2.far.u1002' && typeof r.rate === 'number').length).toBeGreaterThan(0)
  })
})
