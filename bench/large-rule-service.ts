/** Idle cluster of 12 servers for benchmarks; jobs and rules are written directly into its recent store. */
import { parseScenario } from '#core/emulator/scenario.ts'
import { EmulatedSource } from '#electron/cluster/emulated-source.ts'
import { ClusterMonitor } from '#electron/cluster/monitor.ts'
import { placeOf } from '#electron/base/service.ts'
import { Audit } from '#electron/base/audit.ts'
import { History } from '#electron/history/history.ts'
import { RuleService } from '#electron/host/rules/rule-service.ts'

const EPOCH_MS = 1_767_225_600_000
const HOUR_MS = 3_600_000
const SERVERS = 12
const SAMPLES = 30
const STEP_MS = 100
const EXES = ['lmp', 'python', 'vasp_std', 'h5perf', 'openfoam', 'ior']

export const jobIdOf = (i: number): string => `${400_000 + i}.${EXES[i % EXES.length] ?? ''}.u${i % 97}`

const conditionsOf = (i: number): string =>
  i % 10 !== 9 ? `jobid={${jobIdOf(7 * i)}}` : i % 20 === 9 ? `jobid={4${i % 89}*.lmp.*}` : `jobid={*.u${i % 97}}`

/** Output of nrs_tbf_rule. */
const textOf = (rules: number): string => {
  const head = (cpt: number): string[] => [
    `CPT ${cpt}:`,
    ...Array.from({ length: rules }, (_, i) => `op_${i} ${conditionsOf(i)} ${100 + i}, ref 1`),
    'default * 10000, ref 0',
  ]
  return ['regular_requests:', ...head(0), 'high_priority_requests:', ...head(0), ''].join('\n')
}

/** @param jobs  number of jobs with RPCs, each on four of 48 targets. */
export async function largeMonitor(jobs: number): Promise<ClusterMonitor> {
  const read = parseScenario(
    JSON.stringify({
      title: 'Large',
      cluster: 'large',
      clients: { count: 1 },
      control: { max_rate: 500 },
      oss: Array.from({ length: SERVERS }, (_, s) => ({
        name: `oss${s}`,
        osts: Array.from({ length: 4 }, (__, t) => ({ name: `l-OST${s}${t}`, disk: { bandwidth_mb_s: 1000 } })),
      })),
      jobs: [{ id: 'one', clients: [1], op: 'write', size_kib: 64, pattern: { kind: 'poisson', rate: 1 } }],
    }),
  )
  const history = History.open(':memory:', EPOCH_MS)
  if (!read.ok || !history.ok) throw new Error('no cluster')
  const source = new EmulatedSource(read.value, { epochSeconds: EPOCH_MS / 1000 })
  history.value.beginSource('EMULATED', source.cluster, '', EPOCH_MS - HOUR_MS)
  const monitor = new ClusterMonitor({
    source,
    history: history.value,
    audit: new Audit(() => undefined),
    session: 'large',
    mode: 'enforce',
    controller: 'none',
  })
  // Two real samples register servers and targets.
  await source.runTo(3e8, (atNs) => monitor.tick(atNs))
  const targets = monitor.targets.map((t) => t.target)
  const ids = Array.from({ length: jobs }, (_, i) => jobIdOf(i))
  ids.forEach((id, i) => {
    const { job } = monitor.jobs.meet(id, EPOCH_MS)
    job.nodes = 1 + (i % 8)
    for (let k = 0; k < 4; k++) job.targets.add(targets[(i + k * 12) % targets.length] as string)
  })
  for (let at = 4; at < 4 + SAMPLES; at++) {
    monitor.recent.push(EPOCH_MS + at * STEP_MS)
    for (const id of ids) monitor.recent.raw.jobs.set(id, 20 + (at % 7), 0, 0, 0, NaN, 0, 0, NaN, NaN)
  }
  return monitor
}

/** Nine in ten rules name a job, the rest match a program or a user. */
export async function largeRuleService(jobs: number, rules: number): Promise<RuleService> {
  const monitor = await largeMonitor(jobs)
  const text = textOf(rules)
  for (const host of monitor.serversOf('ost_io'))
    monitor.recent.keepRules(placeOf(host, 'ost_io'), monitor.sample, text, '')
  return new RuleService(monitor)
}
