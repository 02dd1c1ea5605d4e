/** `sluice run SCENARIO`: emulates a scenario at full speed under a controller, and reports what was served. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { CONTROLLER_NAMES, type ControllerName } from '#core/controllers/registry.ts'
import { NS_PER_S } from '#core/base/units.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import { History } from '../history/history.ts'
import { readScenario } from '../host/scenario-file.ts'
import { beginEmulated } from '../host/sources/emulated.ts'
import { scenarioFile, seconds } from './arguments.ts'
import { line, must, plain } from './output.ts'

interface RunOptions {
  readonly controller?: ControllerName
  readonly seed?: number
  readonly until: number
  readonly json?: true
}

/** Report of a run; identical for the same scenario and seed except for `wall_s`. */
export interface RunReport {
  readonly scenario: string
  readonly seed: number
  readonly controller: ControllerName
  readonly simulated_s: number
  readonly wall_s: number
  readonly jobs: Record<string, JobReport>
  readonly aggregate: { served_rpcs: number; served_bytes: number; mean_rate: number; mean_bps: number }
  /** Tokens lent (+) or borrowed (-) per job at the end; sums to 0. Only for a controller with a ledger. */
  readonly records?: Record<string, number>
  /** Final state of metadata control. Only for a scenario with `control.metadata`. */
  readonly metadata?: MetadataReport
}

interface MetadataReport {
  readonly algorithm: string
  /** Allocated rate of each job with a policy at the end, and its rate over the last second, op/s; null: not known. */
  readonly jobs: { job: string; scope: string; allocated: number | null; measured: number | null }[]
  readonly rules: number
  /** Parts of the policies that rules cannot express; line 0: not specific to a line. */
  readonly unexpressed: { line: number; text: string }[]
}

interface JobReport {
  readonly served_rpcs: number
  readonly served_bytes: number
  readonly mean_rate: number
  readonly p95_wait_s: number
  readonly finish_s?: number
}

const round = (v: number): number => Number(v.toPrecision(12))
const rounded = (v: number | null): number | null => (v === null ? null : round(v))

function metadataReport({ metadata, sample }: ClusterMonitor): MetadataReport | undefined {
  const state = metadata.stateAt(sample)
  if (!state) return undefined
  return {
    algorithm: state.settings.algorithm,
    jobs: state.jobs.map(({ job, scope, allocated, measured }) => ({
      job,
      scope,
      allocated: rounded(allocated),
      measured: rounded(measured),
    })),
    rules: state.servers.reduce((n, s) => n + s.rules.length, 0),
    unexpressed: [...state.unexpressed],
  }
}

async function run(name: string, options: RunOptions): Promise<RunReport> {
  const scenario = must(readScenario(scenarioFile(name)))
  const history = must(History.open(':memory:', Date.now()))
  const emulation = beginEmulated(scenario, { history, seed: options.seed, epochSeconds: scenario.epoch_s })
  const { emulated } = emulation
  const { monitor } = emulation.source
  if (options.controller) monitor.setController(options.controller)
  const began = performance.now()
  await emulated.runTo(options.until * NS_PER_S, (atNs) => monitor.tick(atNs))
  const wall = (performance.now() - began) / 1000
  // Object.fromEntries, because a job may be called __proto__.
  const jobs: Record<string, JobReport> = Object.fromEntries(
    emulated.emulator.jobs.map((j) => [
      j.scenario.id,
      {
        served_rpcs: j.servedRpcs,
        served_bytes: j.servedBytes,
        mean_rate: round(j.servedRpcs / options.until),
        p95_wait_s: round(j.waits.quantile(0.95) / NS_PER_S),
        ...(j.finishedNs === undefined ? {} : { finish_s: round(j.finishedNs / NS_PER_S) }),
      },
    ]),
  )
  const rpcs = emulated.emulator.jobs.reduce((n, j) => n + j.servedRpcs, 0)
  const bytes = emulated.emulator.jobs.reduce((n, j) => n + j.servedBytes, 0)
  const records: Record<string, number> = Object.fromEntries(
    [...monitor.jobs.all].flatMap((j) => {
      const record = monitor.recordOf(j.jobId)
      return record === undefined ? [] : [[j.jobId, record]]
    }),
  )
  const metadata = scenario.control.metadata ? metadataReport(monitor) : undefined
  const report: RunReport = {
    scenario: scenario.title,
    seed: emulated.emulator.seed,
    controller: monitor.loop.controller,
    simulated_s: options.until,
    wall_s: round(wall),
    jobs,
    aggregate: {
      served_rpcs: rpcs,
      served_bytes: bytes,
      mean_rate: round(rpcs / options.until),
      mean_bps: round(bytes / options.until),
    },
    ...(Object.keys(records).length > 0 ? { records } : {}),
    ...(metadata ? { metadata } : {}),
  }
  await emulation.close()
  history.close()
  return report
}

function print(r: RunReport): void {
  line(
    `${plain(r.scenario)}, seed ${r.seed}, controller ${r.controller}: ${r.simulated_s} s emulated in ${r.wall_s.toFixed(2)} s`,
  )
  line(
    `${'job'.padEnd(32)}${'RPC/s'.padStart(10)}${'MB/s'.padStart(10)}${'p95 wait s'.padStart(12)}${'balance'.padStart(10)}`,
  )
  for (const [id, j] of Object.entries(r.jobs)) {
    const mbps = j.served_bytes / r.simulated_s / 1e6
    const record = r.records?.[id]
    line(
      plain(id).padEnd(32) +
        j.mean_rate.toFixed(1).padStart(10) +
        mbps.toFixed(1).padStart(10) +
        j.p95_wait_s.toFixed(3).padStart(12) +
        (record === undefined ? '' : String(record)).padStart(10),
    )
  }
  line(
    `${'all'.padEnd(32)}${r.aggregate.mean_rate.toFixed(1).padStart(10)}${(r.aggregate.mean_bps / 1e6).toFixed(1).padStart(10)}`,
  )
  if (r.metadata) printMetadata(r.metadata)
}

function printMetadata({ algorithm, jobs, rules, unexpressed }: MetadataReport): void {
  const figure = (v: number | null): string => (v === null ? '-' : v.toFixed(1)).padStart(10)
  line(`metadata, ${algorithm}, ${rules} rules`)
  line(`${'job'.padEnd(32)}${'scope'.padEnd(14)}${'allocated'.padStart(10)}${'measured'.padStart(10)}`)
  for (const j of jobs) {
    line(plain(j.job).padEnd(32) + j.scope.padEnd(14) + figure(j.allocated) + figure(j.measured))
  }
  for (const u of unexpressed) line(`${u.line === 0 ? 'note' : `policy line ${u.line}`}: ${plain(u.text)}`)
}

export function runCommand(): Command {
  return new Command('run')
    .description('emulate a scenario at full speed and report what was served')
    .argument('<scenario>', 'a scenario file, or demo for the built-in one')
    .addOption(
      new Option('--controller <name>', 'controller (default: that of the scenario)').choices(CONTROLLER_NAMES),
    )
    .option('--seed <n>', 'seed (default: that of the scenario)', (t) => {
      if (!/^\d{1,15}$/.test(t)) throw new InvalidArgumentError('A whole number of at most 15 digits.')
      return Number(t)
    })
    .option('--until <s>', 'emulated seconds', seconds, 60)
    .option('--json', 'one JSON document instead of a table')
    .action(async (scenario: string, options: RunOptions) => {
      const report = await run(scenario, options)
      if (options.json) line(JSON.stringify(report))
      else print(report)
    })
}
