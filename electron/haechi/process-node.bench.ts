/**
 * A node of processes with ten clients on this machine: reservations met in every period (Haechi, Fig. 9 and 10), and what the node's own
 * process costs. Reservations are 90 % of a measured half of the capacity under a Zipf law; other load of the machine takes I/Os from them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../../bench/measure.ts'
import { zipfShares } from '#core/haechi/workloads/distributions.ts'
import { haechiHelper } from './helper.ts'
import { HaechiDaemon } from './node-daemon.ts'
import { NODE_SETTINGS, REAL_NODE_DEFAULTS } from './node-setup.ts'
import { measureProfile } from './profile-node.ts'

const CLIENTS = 10
const PERIODS = 20
/** The clients share cores with each other, so the node is given half of what they can do without tokens. */
const SHARE = 0.5

interface Seen {
  /** Shares of the clients' periods, %. */
  readonly met: number
  readonly iops: number
  readonly cpu: number
  readonly wakes: number
}

async function run(): Promise<Seen> {
  const built = await haechiHelper()
  if (!built.ok) throw new Error(built.error.what)
  const { records, completionBatch } = REAL_NODE_DEFAULTS
  const shape = { records, completionBatch, reads: 0.5, intervals: 200, intervalNs: 1e7, periodNs: 1e9 }
  const profile = await measureProfile({ helper: built.value, clients: 2, ...shape })
  if (!profile.ok) throw new Error(profile.error.what)
  const { sigma, intervals, intervalNs, measuredMs } = profile.value
  const globalIops = Math.floor(SHARE * profile.value.globalIops)
  const localIops = Math.min(globalIops, profile.value.localIops)
  const folder = mkdtempSync(join(tmpdir(), 'haechi-bench-'))
  const started = await HaechiDaemon.start({
    name: 'bench',
    controlSocket: join(folder, 'run', 'control.socket'),
    helper: built.value,
    why: '',
    settings: { ...NODE_SETTINGS, estimator: { ...NODE_SETTINGS.estimator, sigma } },
    profile: { globalIops, localIops },
    profiled: { sigma, intervals, intervalNs, measuredMs, from: 'measured' },
    slots: CLIENTS,
    records,
    seed: 1,
    completionBatch,
    clients: zipfShares(0.9 * globalIops, CLIENTS / 2, 2, 1).map((reservation, i) => ({
      name: `c${i}`,
      job: '',
      reservation,
      limit: null,
      workload: { kind: 'backlogged' as const },
      reads: 0.5,
    })),
    log: () => undefined,
    onEnd: () => undefined,
  })
  if (!started.ok) throw new Error(started.error.why ?? started.error.what)
  const daemon = started.value
  // The first period begins while clients start.
  while (daemon.status(2).periods.length < PERIODS) await sleep(200)
  const s = daemon.status(2)
  await daemon.close()
  rmSync(folder, { recursive: true })
  if (s.violations.count > 0) throw new Error(s.violations.latest.join('; '))
  const all = s.periods.flatMap((p) => p.clients)
  const first = s.periods[0]
  const last = s.periods.at(-1)
  const seconds = ((last?.endNs ?? 0) - (first?.startNs ?? 0)) / 1e9
  return {
    met: (100 * all.filter((c) => c.completed >= c.reservation).length) / all.length,
    iops: s.periods.reduce((sum, p) => sum + p.used, 0) / seconds,
    cpu: (100 * s.cpuNs) / s.atNs,
    wakes: s.wakes.data,
  }
}

let seen: Promise<Seen> | undefined
const known = async (figure: (of: Seen) => number): Promise<number> => figure(await (seen ??= run()))

export const benches: readonly Bench[] = [
  {
    id: 'haechi.node.met',
    unit: '%',
    run: () => known((s) => s.met),
    note: 'periods in which a client met its reservation: 10 processes, reservations of 90 % under a Zipf law, half of the capacity',
    paper: 'every period (Haechi)',
    limit: 'Clients share the cores with each other and with the node, which one-sided verbs over a network do not.',
  },
  { id: 'haechi.node.ios', unit: 'records/s', run: () => known((s) => s.iops), note: '4 KB copied by 10 processes' },
  {
    id: 'haechi.node.cpu',
    unit: '% of a core',
    run: () => known((s) => s.cpu),
    note: "the node's process: 1,000 checks a second, 10 clients",
  },
  {
    id: 'haechi.node.wakes',
    unit: 'wake-ups',
    run: () => known((s) => s.wakes),
    note: 'of the node by data I/Os, as the kernel counts them',
    must: { most: 0 },
  },
]
