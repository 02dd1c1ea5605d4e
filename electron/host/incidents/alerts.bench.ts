/** Cost of gathering and evaluating alert figures, per sample of 10,000 jobs on 48 targets, ten samples a second. */
import { AlertWatch } from '#core/alerts/watch.ts'
import { parseScenario } from '#core/emulator/scenario.ts'
import type { Bench } from '../../../bench/measure.ts'
import { EmulatedSource } from '../../cluster/emulated-source.ts'
import { ClusterMonitor } from '../../cluster/monitor.ts'
import { Audit } from '../../base/audit.ts'
import { History } from '../../history/history.ts'
import { shareName } from '../../cluster/state/recent.ts'
import { AlertFacts } from './alert-facts.ts'

const JOBS = 10_000
const SAMPLES = 200
const STEP_MS = 100

/** Monitor that nothing drives, with generated samples. */
function filled(): ClusterMonitor {
  const read = parseScenario(
    JSON.stringify({
      title: 'Bench',
      cluster: 'bench',
      clients: { count: 1 },
      control: { max_rate: 500 },
      oss: Array.from({ length: 12 }, (_, s) => ({
        name: `oss${s}`,
        osts: Array.from({ length: 4 }, (__, t) => ({ name: `b-OST${s}${t}`, disk: { bandwidth_mb_s: 1000 } })),
      })),
      jobs: [{ id: 'one', clients: [1], op: 'write', size_kib: 64, pattern: { kind: 'poisson', rate: 1 } }],
    }),
  )
  const history = History.open(':memory:', 0)
  if (!read.ok || !history.ok) throw new Error('no bench')
  const source = new EmulatedSource(read.value, { epochSeconds: 0 })
  history.value.beginSource('EMULATED', source.cluster, '', 0)
  const audit = new Audit(() => undefined)
  return new ClusterMonitor({
    source,
    history: history.value,
    audit,
    session: 'bench',
    mode: 'observe',
    controller: 'none',
  })
}

async function gather(now: () => number): Promise<number> {
  const monitor = filled()
  // Two real samples make servers and targets known.
  await (monitor.source as EmulatedSource).runTo(3e8, (atNs) => monitor.tick(atNs))
  const targets = monitor.targets.map((t) => t.target)
  const ids = Array.from({ length: JOBS }, (_, i) => `${4000 + i}.solve.u${i % 97}`)
  ids.forEach((id, i) => {
    const { job } = monitor.jobs.meet(id, 0)
    for (let k = 0; k < 4; k++) job.targets.add(targets[(i + k * 12) % targets.length] as string)
  })
  const facts = new AlertFacts(monitor)
  const watch = new AlertWatch(() => 'a')
  let took = 0
  for (let at = 4; at < 4 + SAMPLES; at++) {
    monitor.recent.push(at * STEP_MS)
    for (const id of ids) monitor.recent.raw.jobs.set(id, 20 + (at % 7), 0, 0, 0, NaN, 0, 0, NaN, NaN)
    for (const t of targets) monitor.recent.raw.targets.set(t, 2_000, 4, 40, 1)
    monitor.recent.shares.set(shareName(ids[0] as string, targets[0] as string), 20, NaN, NaN, NaN)
    const began = now()
    watch.look(facts.take(at * STEP_MS))
    took += now() - began
  }
  return took / SAMPLES
}

export const benches: readonly Bench[] = [
  {
    id: 'alerts.gather',
    unit: 'ms',
    run: gather,
    must: { most: 5 },
    runs: 5,
    note: `figures of ${JOBS} jobs gathered and judged, mean of ${SAMPLES} samples, ten a second; the bound is our own target`,
    limit: 'means of every job over the last second are taken once a second, all of them in one sample',
  },
]
