/** Measurement of a real node: throughput, reservations, tokens, wake-ups of the data node's CPU, and its capacity. */
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '#core/base/statistics.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { CapacityProfile } from '#core/haechi/settings.ts'
import { audit, type Audit } from './audit.ts'
import type { RealClient, RealNodeSetup } from './node-setup.ts'
import { RealNode, type NodeMark } from './real-node.ts'

/** Time to start and compile the threads, and for their first periods. */
const WARM_UP_MS = 500

export interface ClientRate {
  readonly iops: number
  /** Whole periods by its own count, and in how many of them it reached its reservation. */
  readonly periods: number
  readonly met: number
  readonly medianCompleted: number
}

export interface RunResult {
  readonly mode: 'haechi' | 'bare'
  /** I/O/s of all clients. */
  readonly iops: number
  /** CPU time of the clients' threads per data I/O, ns. */
  readonly cpuNsPerIo: number
  /** Share of one core used by the monitor. */
  readonly monitorCpu: number
  readonly clients: readonly ClientRate[]
  /** I/Os copied in the whole run, and the wake-ups of the data node's CPU meanwhile. */
  readonly dataIos: number
  readonly wakeUps: { readonly timer: number; readonly send: number; readonly data: number }
  readonly torn: number
  readonly casRaces: number
  readonly conversions: number
  /** omega at the end; 0 without a monitor. */
  readonly omega: number
  readonly audit: Audit
}

/** Runs a node for `ms` after a warm-up; with tokens for whole periods, because reservations are used at their start. */
export async function runNode(setup: RealNodeSetup, ms: number): Promise<Result<RunResult>> {
  const opened = await RealNode.open(setup)
  if (!opened.ok) return opened
  const node = opened.value
  const isBare = setup.mode === 'bare'
  await sleep(WARM_UP_MS)
  await node.nextPeriods(isBare ? 0 : 1)
  const from = await node.mark()
  const fromEpoch = node.periods.items.at(-1)?.epoch ?? 0
  if (isBare) await sleep(ms)
  else await node.nextPeriods(Math.max(1, Math.round((ms * 1e6) / setup.settings.periodNs)))
  const to = await node.mark()
  await node.close()
  return node.failure ? fail(node.failure) : ok(resultOf(node, from, to, fromEpoch))
}

function resultOf(node: RealNode, from: NodeMark, to: NodeMark, fromEpoch: number): RunResult {
  let iops = 0
  let cpuNs = 0
  const monitorNs = to.monitorCpuNs - from.monitorCpuNs
  let completed = 0
  let elapsedNs = 0
  const last = node.periods.items.at(-1)?.epoch ?? 0
  const clients = to.clients.map((b, client): ClientRate => {
    const a = from.clients[client]
    const rate = a && b ? ((b.completed - a.completed) * NS_PER_S) / (b.atNs - a.atNs) : 0
    if (a && b) {
      completed += b.completed - a.completed
      cpuNs += b.cpuNs - a.cpuNs
      elapsedNs = Math.max(elapsedNs, b.atNs - a.atNs)
    }
    iops += rate
    const whole = node.logs.items.filter((l) => l.client === client && l.epoch > fromEpoch && l.epoch <= last)
    const met = whole.filter((l) => l.completed >= l.reservation).length
    return { iops: rate, periods: whole.length, met, medianCompleted: median(whole.map((l) => l.completed)) }
  })
  const ends = clients.map((_, client) => node.end(client))
  return {
    mode: node.setup.mode,
    iops,
    clients,
    cpuNsPerIo: cpuNs / completed,
    monitorCpu: monitorNs / elapsedNs,
    dataIos: ends.reduce((sum, end) => sum + (end?.copied ?? 0), 0),
    torn: ends.reduce((sum, end) => sum + (end?.torn ?? 0), 0),
    wakeUps: node.memory.wakeUps,
    casRaces: node.checks.races,
    conversions: node.checks.conversions,
    omega: node.periods.items.at(-1)?.nextOmega ?? 0,
    audit: audit(node),
  }
}

/** C_G with all clients and C_L with one, on the bare node. */
export async function profileNode(setup: RealNodeSetup, ms: number): Promise<Result<CapacityProfile>> {
  const iops = async (clients: readonly RealClient[]): Promise<Result<number>> => {
    const backlogged = clients.map((c): RealClient => ({ ...c, workload: { kind: 'backlogged' } }))
    const run = await runNode({ ...setup, mode: 'bare', clients: backlogged }, ms)
    return run.ok ? ok(Math.floor(run.value.iops)) : run
  }
  const all = await iops(setup.clients)
  if (!all.ok) return all
  const one = await iops(setup.clients.slice(0, 1))
  return one.ok ? ok({ globalIops: Math.max(all.value, one.value), localIops: one.value }) : one
}
