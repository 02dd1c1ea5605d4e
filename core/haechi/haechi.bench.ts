/**
 * Simulated seconds per second of one core, every I/O exact: ten clients that keep a node of 1.57 M I/O/s saturated, as in the
 * paper's set 2, with samples for a view. `haechi.realtime`: engines and monitor; its baseline is the bare node, so that the ratio
 * is what tokens cost to simulate. `haechi.realtime.zipf`: the same with YCSB keys. `haechi.loss`: throughput lost to tokens, %.
 */
import { DEFAULT_SETTINGS } from './settings.ts'
import { NodeSimulation } from './sim/node-simulation.ts'
import { NODE_DEFAULTS, type NodeMode } from './sim/setup.ts'
import type { RecordMix } from './workloads/records.ts'

type Clock = () => number

const SECONDS = 2
const RESERVATION = 141_300

function saturated(mode: NodeMode, records?: RecordMix): NodeSimulation {
  const workload = { kind: 'burst', perPeriod: RESERVATION + 157_000, carry: true } as const
  const client = { reservation: RESERVATION, workload, ...(records ? { records } : {}) }
  const clients = Array.from({ length: 10 }, (_, i) => ({ ...client, name: `C${i + 1}` }))
  const estimator = { ...DEFAULT_SETTINGS.estimator, enabled: false }
  const made = NodeSimulation.create({ ...NODE_DEFAULTS, mode, settings: { ...DEFAULT_SETTINGS, estimator }, clients })
  if (!made.ok) throw new Error(made.error.what)
  return made.value
}

const nodes = new Map<string, NodeSimulation>()

/** Goes on with one node, so that what is timed is a run under way. */
function speed(now: Clock, mode: NodeMode, records?: RecordMix): number {
  const key = `${mode} ${records?.keys}`
  const node = nodes.get(key) ?? saturated(mode, records)
  // Engines and compilers need the same second or two to come to rest.
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

export const benches = [
  {
    id: 'haechi.realtime',
    unit: 'x',
    run: (now: Clock) => speed(now, 'haechi'),
    baseline: (now: Clock) => speed(now, 'bare'),
    note: 'simulated seconds a second, 10 clients, 1.57 M I/O/s, every I/O exact; baseline: without tokens',
  },
  {
    id: 'haechi.realtime.zipfian',
    unit: 'x',
    run: (now: Clock) => speed(now, 'haechi', { records: 1_000_000, keys: 'zipfian', reads: 0.95 }),
    note: 'the same, and every I/O draws a zipfian record of 1 M (YCSB B)',
  },
  { id: 'haechi.loss', unit: '%', run: loss, note: 'throughput lost to tokens in the emulator, estimator off' },
]
