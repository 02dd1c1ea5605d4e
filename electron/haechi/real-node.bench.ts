/**
 * Cost of tokens over real memory: 4 KB records a second of two clients and a monitor in threads, compared with the same clients
 * without tokens, alternating every few ms in one process (token-cost.ts). Throughput depends on other load of the machine; CPU
 * time per I/O hardly does, so that `haechi.real.loss.cpu` is the relevant metric.
 */
import { availableParallelism } from 'node:os'
import type { Bench, Growth } from '../../bench/measure.ts'
import { engineCost } from '../../bench/engine-cost.ts'
import { median } from '#core/base/statistics.ts'
import { REAL_NODE_DEFAULTS, type RealClient, type RealNodeSetup } from './node-setup.ts'
import { tokenCost, type TokenCost } from './token-cost.ts'

const MS = 1500
const ENGINE_IOS = 40_000_000

const client: RealClient = {
  reservation: 100_000,
  limit: null,
  workload: { kind: 'backlogged' },
  mix: { keys: 'uniform', reads: 0.5 },
}
// The cost does not depend on a profile.
const setup: RealNodeSetup = {
  ...REAL_NODE_DEFAULTS,
  profile: { globalIops: 1, localIops: 1 },
  clients: [client, client],
}

async function measured(completionBatch: number): Promise<TokenCost> {
  const cost = await tokenCost({ ...setup, completionBatch }, MS)
  if (!cost.ok) throw new Error(cost.error.what)
  if (cost.value.violations.length > 0) throw new Error(cost.value.violations.join('; '))
  return cost.value
}

/** Results measured in this process. */
const seen: TokenCost[] = []

async function next(): Promise<TokenCost> {
  const cost = await measured(setup.completionBatch)
  seen.push(cost)
  return cost
}

async function known(figure: (cost: TokenCost) => number): Promise<number> {
  if (seen.length === 0) await next()
  return median(seen.map(figure))
}

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'haechi.real',
    unit: 'records/s',
    run: async () => (await next()).haechi.iops,
    baseline: () => known((c) => c.bare.iops),
    note: `4 KB copied, 2 clients and a monitor on ${availableParallelism()} cores`,
    beside: 'without tokens, in turns',
    runs: 5,
  },
  {
    id: 'haechi.real.loss',
    unit: '%',
    run: () => known((c) => c.throughput.median),
    note: 'throughput lost to tokens; the monitor works in both turns',
  },
  {
    id: 'haechi.real.loss.cpu',
    unit: '%',
    run: () => known((c) => c.cpu.median),
    note: 'by CPU time of the clients per I/O, completions taken 16 at a time',
    paper: 'negligible, over RDMA (Haechi)',
    limit:
      'A copy of 4 KB in memory takes a fraction of a microsecond, in which every word of the engine counts; over RDMA the NIC sets the pace.',
  },
  {
    id: 'haechi.real.loss.cpu.one-by-one',
    unit: '%',
    run: async () => (await measured(1)).cpu.median,
    note: 'the same, completions taken one at a time',
    runs: 5,
  },
  ...[16, 1].map((completions) => ({
    id: `haechi.real.engine.${completions}`,
    unit: 'ns/IO',
    run: () => engineCost('haechi', completions, ENGINE_IOS),
    baseline: () => engineCost('bare', completions, ENGINE_IOS),
    note: `CPU beside the copy of 4 KB, completions taken ${completions} at a time`,
    beside: 'without tokens',
    runs: 5,
  })),
  {
    id: 'haechi.real.monitor',
    unit: '% of a core',
    run: () => known((c) => 100 * c.monitorCpu),
    note: 'the monitor: 1,000 checks a second, asleep in between',
  },
]
