/**
 * Cost of tokens on a real node: the same clients with and without tokens, on two nodes of one process that alternate every few
 * ms, so that other load of the machine affects both alike. Medians over the pairs of turns.
 *
 * omega is above the throughput of any machine and is not estimated: any loss is due to the work of the protocol, not to a limit.
 * Throughput depends on other load of the machine; CPU time per I/O hardly does.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { NS_PER_S } from '#core/base/units.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { audit } from './audit.ts'
import { median } from '#core/base/statistics.ts'
import type { RealNodeSetup } from './node-setup.ts'
import { RealNode } from './real-node.ts'

export interface Round {
  /** I/O/s of all clients. */
  readonly iops: number
  /** CPU time of the clients per data I/O, ns. */
  readonly cpuNsPerIo: number
}

/** Loss in %, with the interquartile range of its pairs. */
export interface Loss {
  readonly median: number
  readonly from: number
  readonly to: number
}

export interface TokenCost {
  readonly pairs: number
  /** Medians of the turns. */
  readonly haechi: Round
  readonly bare: Round
  /** Loss of throughput. The monitor works in both turns, so this is the clients' loss. */
  readonly throughput: Loss
  /** Loss by CPU time per I/O. */
  readonly cpu: Loss
  /** CPU time that tokens add to an I/O, ns. */
  readonly addedNsPerIo: number
  /** Share of one core used by the monitor: mostly for sleeping and waking a thousand times a second. */
  readonly monitorCpu: number
  readonly violations: readonly string[]
}

const ROUND_MS = 25
const WARM_UP_TURNS = 20
/** I/O/s; a report counts to 2^28. */
const BEYOND = 50_000_000

/** @param ms  run time of each of the two nodes, after a warm-up. */
export async function tokenCost(setup: RealNodeSetup, ms: number): Promise<Result<TokenCost>> {
  const settings = {
    ...setup.settings,
    // A client that is paused between its turns is not dead.
    missedReports: 2 ** 20,
    estimator: { ...setup.settings.estimator, enabled: false },
  }
  const unlimited = { ...setup, settings, profile: { globalIops: BEYOND, localIops: BEYOND } }
  const bare = await RealNode.open({ ...unlimited, mode: 'bare' })
  if (!bare.ok) return bare
  bare.value.pause(true)
  const haechi = await RealNode.open({ ...unlimited, mode: 'haechi' })
  if (!haechi.ok) {
    await bare.value.close()
    return haechi
  }
  haechi.value.pause(true)
  const nodes: Pair<RealNode> = { haechi: haechi.value, bare: bare.value }
  const began = { at: performance.now(), cpuNs: (await nodes.haechi.mark()).monitorCpuNs }
  const pairs: Pair<Round>[] = []
  for (let i = -WARM_UP_TURNS; i < Math.max(1, ms / ROUND_MS); i++) {
    const both = await pairOf(nodes, i % 2 === 0)
    if (i >= 0) pairs.push(both)
  }
  const monitorNs = (await nodes.haechi.mark()).monitorCpuNs - began.cpuNs
  const monitorCpu = monitorNs / ((performance.now() - began.at) * 1e6)
  await Promise.all([nodes.haechi.close(), nodes.bare.close()])
  const failure = nodes.haechi.failure ?? nodes.bare.failure
  return failure ? fail(failure) : ok(costOf(pairs, monitorCpu, audit(nodes.haechi).violations))
}

interface Pair<T> {
  readonly haechi: T
  readonly bare: T
}

/** The order alternates between pairs. */
async function pairOf({ haechi, bare }: Pair<RealNode>, isBareFirst: boolean): Promise<Pair<Round>> {
  if (isBareFirst) {
    const first = await measureRound(bare)
    return { bare: first, haechi: await measureRound(haechi) }
  }
  return { haechi: await measureRound(haechi), bare: await measureRound(bare) }
}

async function measureRound(node: RealNode): Promise<Round> {
  node.pause(false)
  const from = await node.mark()
  await sleep(ROUND_MS)
  const to = await node.mark()
  node.pause(true)
  let iops = 0
  let cpuNs = 0
  let completed = 0
  to.clients.forEach((b, i) => {
    const a = from.clients[i]
    if (!a || !b) return
    iops += ((b.completed - a.completed) * NS_PER_S) / (b.atNs - a.atNs)
    cpuNs += b.cpuNs - a.cpuNs
    completed += b.completed - a.completed
  })
  return { iops, cpuNsPerIo: cpuNs / completed }
}

function costOf(pairs: readonly Pair<Round>[], monitorCpu: number, violations: readonly string[]): TokenCost {
  const medianOf = (of: (pair: Pair<Round>) => Round): Round => ({
    iops: median(pairs.map((p) => of(p).iops)),
    cpuNsPerIo: median(pairs.map((p) => of(p).cpuNsPerIo)),
  })
  return {
    pairs: pairs.length,
    haechi: medianOf((p) => p.haechi),
    bare: medianOf((p) => p.bare),
    monitorCpu,
    violations,
    throughput: lossOf(pairs.map(({ haechi, bare }) => haechi.iops / bare.iops)),
    addedNsPerIo: median(pairs.map(({ haechi, bare }) => haechi.cpuNsPerIo - bare.cpuNsPerIo)),
    cpu: lossOf(pairs.map(({ haechi, bare }) => bare.cpuNsPerIo / haechi.cpuNsPerIo)),
  }
}

function lossOf(ratios: readonly number[]): Loss {
  const lost = ratios.map((share) => 100 * (1 - share)).toSorted((a, b) => a - b)
  const at = (q: number): number => lost[Math.min(lost.length - 1, Math.floor(lost.length * q))] ?? NaN
  return { median: median(lost), from: at(0.25), to: at(0.75) }
}
