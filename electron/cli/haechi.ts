/** `sluice haechi …`: measures a data node in shared memory on this machine, with and without tokens. */
import { availableParallelism } from 'node:os'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Failure } from '#core/base/result.ts'
import type { CapacityProfile } from '#core/haechi/settings.ts'
import { profileNode, runNode, type RunResult } from '../haechi/measure.ts'
import { NODE_SETTINGS, REAL_NODE_DEFAULTS, type RealClient, type RealNodeSetup } from '../haechi/node-setup.ts'
import { tokenCost, type Loss, type TokenCost } from '../haechi/token-cost.ts'
import { line, must, stop } from './output.ts'

const integer = (text: string): number => {
  if (!/^\d{1,10}$/.test(text)) throw new InvalidArgumentError('A whole number of at most 10 digits.')
  return Number(text)
}
const least = (n: number) => (text: string) => {
  const value = integer(text)
  if (value < n) throw new InvalidArgumentError(`A whole number, ${n} at least.`)
  return value
}
const MAX_SECONDS = 600
const seconds = (text: string): number => {
  const value = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : 0
  if (value < 0.1 || value > MAX_SECONDS) throw new InvalidArgumentError(`Seconds, from 0.1 to ${MAX_SECONDS}.`)
  return value
}
const wholes = (text: string): number[] => text.split(',').map((part) => integer(part.trim()))
const limits = (text: string): (number | null)[] =>
  text.split(',').map((part) => (part.trim() === '-' ? null : integer(part.trim())))

/** Share of READs. */
const MIXES: Readonly<Record<string, number>> = { a: 0.5, b: 0.95, c: 1 }

interface NodeFlags {
  readonly clients: number
  readonly reservations: readonly number[]
  readonly limits: readonly (number | null)[]
  readonly seconds: number
  readonly capacity?: readonly number[]
  readonly records: number
  readonly mix: string
  readonly keys: 'uniform' | 'zipfian'
  readonly batch: number
  readonly completions: number
  readonly estimator: boolean
  readonly bare?: true
  readonly json?: true
}

const PROFILE_MS = 1000

interface NodeReport {
  readonly cores: number
  readonly profile: CapacityProfile
  readonly reservations: readonly number[]
  readonly run: RunResult
  /** Absent with --bare. */
  readonly cost?: TokenCost
}

function setupOf(flags: NodeFlags): RealNodeSetup {
  const clients = Array.from({ length: flags.clients }, (_, i): RealClient => ({
    reservation: flags.reservations[i] ?? 0,
    limit: flags.limits[i] ?? null,
    workload: { kind: 'backlogged' },
    mix: { keys: flags.keys, reads: MIXES[flags.mix] ?? 0.5 },
  }))
  const settings = {
    ...NODE_SETTINGS,
    batch: flags.batch,
    estimator: { ...NODE_SETTINGS.estimator, enabled: flags.estimator },
  }
  return {
    ...REAL_NODE_DEFAULTS,
    settings,
    clients,
    slots: clients.length,
    records: flags.records,
    completionBatch: flags.completions,
    // Replaced by measured or given values; unused on a bare node.
    profile: { globalIops: 1, localIops: 1 },
  }
}

const tooMany = (what: string, n: number, clients: number): Failure => ({
  code: 'E_CLIENTS',
  what: `There are ${n} ${what} for ${clients} clients`,
})

async function node(flags: NodeFlags): Promise<void> {
  for (const [what, { length }] of [
    ['reservations', flags.reservations],
    ['limits', flags.limits],
  ] as const) {
    if (length > flags.clients) stop(tooMany(what, length, flags.clients), 2)
  }
  const bare = setupOf(flags)
  const [global, local = global] = flags.capacity ?? []
  const profile: CapacityProfile =
    global === undefined || local === undefined
      ? must(await profileNode(bare, PROFILE_MS))
      : { globalIops: global, localIops: local }
  const setup: RealNodeSetup = { ...bare, profile }
  const ms = flags.seconds * 1000
  const run = must(await runNode({ ...setup, mode: flags.bare ? 'bare' : 'haechi' }, ms))
  const cost = flags.bare ? undefined : must(await tokenCost(setup, ms))
  const report: NodeReport = {
    cores: availableParallelism(),
    profile,
    reservations: setup.clients.map((c) => c.reservation),
    run,
    ...(cost ? { cost } : {}),
  }
  if (flags.json) line(JSON.stringify(report))
  else print(report)
  if (run.audit.violations.length + (cost?.violations.length ?? 0) > 0) process.exitCode = 1
}

const figure = (n: number): string => Math.round(n).toLocaleString('en-GB')

function print({ cores, profile, reservations, run, cost }: NodeReport): void {
  const isBare = run.mode === 'bare'
  line(
    `${reservations.length} clients${isBare ? '' : ' and a monitor'} on ${cores} cores; capacity ` +
      `${figure(profile.globalIops)} I/O/s, of one client ${figure(profile.localIops)}`,
  )
  const row = (name: string, ...cells: string[]): void =>
    line(name.padEnd(8) + cells.map((cell) => cell.padStart(15)).join(''))
  if (isBare) row('client', 'I/O/s')
  else row('client', 'reserved', 'I/O/s', 'median period', 'met')
  run.clients.forEach((c, i) => {
    if (isBare) row(String(i), figure(c.iops))
    else
      row(
        String(i),
        figure(reservations[i] ?? 0),
        figure(c.iops),
        period(c.medianCompleted),
        `${c.met} of ${c.periods}`,
      )
  })
  if (isBare) row('all', figure(run.iops))
  else row('all', figure(reservations.reduce((a, b) => a + b, 0)), figure(run.iops))
  if (cost) {
    printTokens(run)
    printCost(cost)
  }
}

const period = (completed: number): string => (Number.isNaN(completed) ? '-' : figure(completed))

function printTokens({ omega, audit, conversions, casRaces, wakeUps, dataIos, monitorCpu }: RunResult): void {
  const share = (100 * audit.mostHandedOut).toFixed(1)
  line(
    `capacity estimate (omega) ${figure(omega)} tokens at the end; at most ${share} % of a period's tokens were handed out`,
  )
  line(`${figure(conversions)} conversions, ${figure(casRaces)} lost CAS races`)
  line(
    `data node's CPU: ${wakeUps.data} wake-ups by ${figure(dataIos)} data I/Os; ${figure(wakeUps.timer)} checks, ` +
      `${wakeUps.send} SENDs, ${(100 * monitorCpu).toFixed(1)} % of a core`,
  )
  line(`tokens conserved: ${audit.periods} periods, ${audit.violations.length} violations`)
  for (const violation of audit.violations) line(`  ${violation}`)
}

function printCost({ haechi, bare, throughput, cpu, addedNsPerIo, pairs }: TokenCost): void {
  const loss = (l: Loss): string => `${l.median.toFixed(1)} % (IQR ${l.from.toFixed(1)} to ${l.to.toFixed(1)})`
  line(`Haechi vs. bare, alternating, medians of ${pairs} pairs, capacity not limiting:`)
  line(`  ${figure(haechi.iops)} vs. ${figure(bare.iops)} I/O/s, loss ${loss(throughput)}`)
  line(
    `  ${haechi.cpuNsPerIo.toFixed(0)} vs. ${bare.cpuNsPerIo.toFixed(0)} ns of client CPU per I/O, ` +
      `${addedNsPerIo.toFixed(0)} added, loss ${loss(cpu)}`,
  )
}

export function haechiCommand(): Command {
  const haechi = new Command('haechi')
    .description('QoS of one-sided I/O: a data node in shared memory')
    .showHelpAfterError('(see sluice haechi --help)')
    .exitOverride()
  haechi
    .command('node')
    .description('measure a node and its clients in threads of this process, with and without tokens')
    .option('--clients <n>', 'client threads', least(1), 2)
    .option('--reservations <list>', 'I/Os per second by client, for example 100000,50000', wholes, [])
    .option('--limits <list>', 'I/Os per second by client, - for none', limits, [])
    .option('--seconds <s>', 'duration of each measurement', seconds, 5)
    .option('--capacity <list>', 'I/O/s of the node, and of one client (default: measured first)', wholes)
    .option('--records <n>', 'records of 4 KB', least(1), 16_384)
    .addOption(
      new Option('--mix <name>', 'YCSB workload: a = 50 % reads, b = 95 %, c = 100 %')
        .choices(Object.keys(MIXES))
        .default('a'),
    )
    .addOption(
      new Option('--keys <name>', 'distribution of the records').choices(['uniform', 'zipfian']).default('uniform'),
    )
    .option('--batch <n>', 'tokens per claim of a client', least(1), NODE_SETTINGS.batch)
    .option('--completions <n>', 'completions per poll of a client', least(1), REAL_NODE_DEFAULTS.completionBatch)
    .option('--no-estimator', 'do not update the capacity estimate')
    .option('--bare', 'run without tokens only')
    .option('--json', 'one JSON document instead of a table')
    .action((flags: NodeFlags) => node(flags))
  return haechi
}
