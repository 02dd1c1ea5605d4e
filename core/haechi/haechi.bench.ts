/**
 * Simulated seconds per second of one core, every I/O exact: ten clients that keep a node of 1.57 M I/O/s saturated, as in the paper's
 * set 2, with samples for a view. `haechi.realtime`: engines and monitor; its baseline is the bare node, so that the ratio is the
 * simulation cost of tokens. `haechi.realtime.zipfian`: the same with YCSB keys. `haechi.loss`: throughput lost to tokens, %.
 * `haechi.growth`: simulation cost per I/O by number of clients.
 */
import type { Bench, Growth } from '../../bench/measure.ts'
import { DEFAULT_SETTINGS } from './settings.ts'
import { NodeSimulation } from './sim/node-simulation.ts'
import { NODE_DEFAULTS, type NodeMode } from './sim/setup.ts'
import type { RecordMix } from './workloads/records.ts'

type Clock = () => number

const SECONDS = 2
const CLIENTS = 10
/** Reservation of all clients together, and their demand above it, per period. */
const RESERVED = 1_413_000
const BEYOND = 1_570_000

function saturated(mode: NodeMode, records?: RecordMix, count = CLIENTS): NodeSimulation {
  const reservation = Math.floor(RESERVED / count)
  const workload = { kind: 'burst', perPeriod: reservation + Math.floor(BEYOND / count), carry: true } as const
  const client = { reservation, workload, ...(records ? { records } : {}) }
  const clients = Array.from({ length: count }, (_, i) => ({ ...client, name: `C${i + 1}` }))
  const estimator = { ...DEFAULT_SETTINGS.estimator, enabled: false }
  const made = NodeSimulation.create({ ...NODE_DEFAULTS, mode, settings: { ...DEFAULT_SETTINGS, estimator }, clients })
  if (!made.ok) throw new Error(made.error.what)
  return made.value
}

const nodes = new Map<string, NodeSimulation>()

/** Continues one node, so that a run in steady state is timed. */
function speed(now: Clock, mode: NodeMode, records?: RecordMix): number {
  const key = `${mode} ${records?.keys}`
  const node = nodes.get(key) ?? saturated(mode, records)
  // Engines and compilers need the same one or two seconds to settle.
  if (!nodes.has(key)) node.runUntil(4e9)
  nodes.set(key, node)
  const began = now()
  node.runUntil(node.now + SECONDS * 1e9)
  return (SECONDS * 1000) / (now() - began)
}

function loss(): number {
  const total = (mode: NodeMode): number => {
    const node = saturated(mode)
    node.runUntil(3e9)
    return node.periods.items.slice(1).reduce((sum, p) => sum + p.total, 0)
  }
  return 100 * (1 - total('haechi') / total('bare'))
}

/** ns per I/O of a node saturated by this many clients. */
function ioNs(now: Clock, count: number): number {
  const node = saturated('haechi', undefined, count)
  node.runUntil(1e9)
  const before = node.counters().dataIos
  const began = now()
  node.runUntil(1.5e9)
  return ((now() - began) * 1e6) / (node.counters().dataIos - before)
}

export const benches: readonly (Bench | Growth)[] = [
  {
    id: 'haechi.realtime',
    unit: 'x',
    run: (now: Clock) => speed(now, 'haechi'),
    baseline: (now: Clock) => speed(now, 'bare'),
    note: `simulated seconds a second, ${CLIENTS} clients that keep the node saturated, every I/O exact`,
    runs: 5,
    beside: 'the bare node, without tokens',
    must: { least: 7 },
    limit:
      'An I/O is one event without an object; what is left are its counters, its latency and two queues in memory.',
  },
  {
    id: 'haechi.realtime.zipfian',
    unit: 'x',
    run: (now: Clock) => speed(now, 'haechi', { records: 1_000_000, keys: 'zipfian', reads: 0.95 }),
    note: 'the same, and every I/O draws a zipfian record of 1 M (YCSB B)',
    runs: 5,
    limit: 'A power for each key, and a record that lies in no cache.',
  },
  {
    id: 'haechi.loss',
    unit: '%',
    run: loss,
    note: 'throughput lost to tokens in the emulator, estimator off',
    runs: 5,
    must: { most: 0.15 },
    paper: 'negligible (Haechi)',
    limit: 'FAAs and reports take slots of the node’s NIC that data I/Os would have had.',
  },
  {
    id: 'haechi.growth',
    unit: 'log power',
    sizes: [5, 15, 60],
    cost: ioNs,
    axis: 'log',
    note: 'ns per I/O over clients of one saturated node; 1 is logarithmic; the bound is our own target',
    must: { most: 1 },
    limit: 'Reports, ticks and samples are of every client, and their latencies outgrow the caches of a processor.',
    runs: 5,
  },
]
