/**
 * `sluice haechi …`: a data node of processes on this machine, its commands (core/haechi/console.ts, also sent by the console over
 * SSH), and a measurement of the cost of tokens.
 */
import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { formatFailure, type Failure } from '#core/base/result.ts'
import { answerNode, parseNodeCommand, type NewClient, type NodeAnswer } from '#core/haechi/console.ts'
import type { CapacityProfile } from '#core/haechi/settings.ts'
import { parseHaechiStatus, type HaechiStatus } from '#core/haechi/status.ts'
import { haechiHelper } from '../haechi/helper.ts'
import { profileNode, runNode, type RunResult } from '../haechi/measure.ts'
import { NODE_SETTINGS, REAL_NODE_DEFAULTS, type RealClient, type RealNodeSetup } from '../haechi/node-setup.ts'
import { HaechiDaemon } from '../haechi/node-daemon.ts'
import { haechiSocket } from '../haechi/places.ts'
import { cachedProfile, keepProfile, measureProfile, type ProfileOptions } from '../haechi/profile-node.ts'
import { tokenCost, type Loss, type TokenCost } from '../haechi/token-cost.ts'
import { dataDir } from '../server/data-dir.ts'
import { sendCommand } from '../wire/control-channel.ts'
import { line, must, plain, plainJson, plainLines, stop, untilSignal } from './output.ts'

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

const CONTROL = ['--control <socket>', 'socket of the node for commands'] as const

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

async function measure(flags: NodeFlags): Promise<void> {
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

const ratio = (text: string): number => {
  const value = /^[01](?:\.\d{1,3})?$/.test(text) ? Number(text) : NaN
  if (!(value <= 1)) throw new InvalidArgumentError('A number from 0 to 1.')
  return value
}

interface DaemonFlags {
  readonly client: readonly string[]
  readonly name: string
  readonly control?: string
  readonly capacity?: readonly number[]
  readonly sigma?: number
  readonly intervals: number
  readonly intervalMs: number
  readonly profileClients: number
  readonly measureAgain?: true
  readonly records: number
  readonly slots: number
  readonly periodMs: number
  readonly batch: number
  readonly completions: number
  readonly estimator: boolean
  readonly fluid?: true
  readonly threads?: true
  readonly cc: string
  readonly data?: string
}

const note = (text: string): void => void process.stderr.write(`sluice haechi: ${plain(text)}\n`)

/** Clients as given: `NAME reservation=… workload=…`, the words that `sluice haechi add` takes. */
const clientOf = (words: string): NewClient => {
  const read = parseNodeCommand(['add', ...words.split(/\s+/).filter(Boolean)])
  if (!read.ok) throw new InvalidArgumentError(read.error)
  if (read.value.kind !== 'add') throw new InvalidArgumentError('A client.')
  return read.value.client
}

/** Capacity: given, kept from an earlier start, or measured now. */
async function profileFor(helper: string | undefined, flags: DaemonFlags) {
  const [globalIops, localIops = globalIops] = flags.capacity ?? []
  const sigma = flags.sigma ?? NODE_SETTINGS.estimator.sigma
  if (globalIops !== undefined && localIops !== undefined) {
    const given = { sigma, intervals: 0, intervalNs: 0, measuredMs: Date.now(), from: 'given' as const }
    return { globalIops, localIops, ...given }
  }
  if (helper === undefined) {
    note('without the helper only the capacity is measured, not its deviation: sigma is a setting')
    const one: RealClient = {
      reservation: 0,
      limit: null,
      workload: { kind: 'backlogged' },
      mix: { keys: 'uniform', reads: 0.5 },
    }
    const clients = Array.from({ length: flags.profileClients }, () => one)
    const bare = { ...REAL_NODE_DEFAULTS, clients, slots: clients.length, records: flags.records }
    const measured = must(await profileNode({ ...bare, profile: { globalIops: 1, localIops: 1 } }, PROFILE_MS))
    return {
      ...measured,
      sigma,
      intervals: 1,
      intervalNs: PROFILE_MS * 1e6,
      measuredMs: Date.now(),
      from: 'measured' as const,
    }
  }
  const options: ProfileOptions = {
    helper,
    clients: flags.profileClients,
    records: flags.records,
    reads: 0.5,
    completionBatch: flags.completions,
    intervals: flags.intervals,
    intervalNs: flags.intervalMs * 1e6,
    periodNs: flags.periodMs * 1e6,
  }
  const file = join(flags.data ?? dataDir(), 'haechi-profile.json')
  const kept = flags.measureAgain ? undefined : cachedProfile(file, options)
  if (kept) return { ...kept, ...(flags.sigma === undefined ? {} : { sigma }), from: 'cache' as const }
  note(`measuring the capacity over ${flags.intervals} intervals of ${flags.intervalMs} ms`)
  let shown = 0
  const onProgress = (share: number): void => {
    if (share < shown + 0.1) return
    shown = Math.floor(share * 10) / 10
    note(`capacity: ${Math.round(shown * 100)} %`)
  }
  const measured = must(await measureProfile({ ...options, onProgress }))
  if (!keepProfile(file, options, measured)) note(`the capacity could not be kept in ${file}`)
  return { ...measured, ...(flags.sigma === undefined ? {} : { sigma }), from: 'measured' as const }
}

async function node(flags: DaemonFlags): Promise<void> {
  const built = flags.threads ? undefined : await haechiHelper({ cc: flags.cc })
  const helper = built?.ok ? built.value : undefined
  const why = built === undefined ? 'asked for threads' : built.ok ? '' : formatFailure(built.error)
  if (helper === undefined) note(`clients are threads of this process: ${why}`)
  const { globalIops, localIops, ...profiled } = await profileFor(helper, flags)
  const estimator = { ...NODE_SETTINGS.estimator, enabled: flags.estimator, sigma: profiled.sigma }
  const settings = {
    ...NODE_SETTINGS,
    periodNs: flags.periodMs * 1e6,
    batch: flags.batch,
    fluidAdmission: flags.fluid === true,
    estimator,
  }
  const daemon = must(
    await HaechiDaemon.start({
      name: flags.name,
      controlSocket: flags.control ?? haechiSocket(),
      helper,
      why,
      settings,
      profile: { globalIops, localIops },
      profiled,
      slots: flags.slots,
      records: flags.records,
      seed: 1,
      completionBatch: flags.completions,
      clients: flags.client.map(clientOf),
      log: note,
      onEnd: (failure) => (failure ? stop(failure) : process.exit(0)),
    }),
  )
  untilSignal(() => daemon.close())
  const percent = (100 * profiled.sigma).toFixed(1)
  line(
    `Data node ${plain(flags.name)}, ${helper === undefined ? 'threads' : 'processes'}: ${figure(globalIops)} I/O/s ` +
      `(sigma ${percent} %), ${figure(localIops)} for one client; commands at ${plain(flags.control ?? haechiSocket())}`,
  )
}

/** Sends a command to the node here and prints its answer as the console receives it. */
async function query(args: readonly string[], control: string | undefined): Promise<NodeAnswer> {
  return (
    must(await sendCommand(control ?? haechiSocket(), args, '', 'the data node')) ?? (await answerNode(args, undefined))
  )
}

async function command(args: readonly string[], control: string | undefined): Promise<void> {
  const answer = await query(args, control)
  process.stderr.write(plainLines(answer.stderr))
  process.exitCode = answer.code
}

async function status(args: readonly string[], control: string | undefined): Promise<void> {
  const answer = await query(['status', ...args], control)
  process.stderr.write(plainLines(answer.stderr))
  process.exitCode = answer.code
  if (answer.code !== 0) return
  if (args.includes('--json')) {
    await new Promise((done) => process.stdout.write(plainJson(answer.stdout), done))
    return
  }
  const read = parseHaechiStatus(answer.stdout)
  if ('fault' in read) stop({ code: 'STATUS', what: 'The status cannot be parsed', why: read.fault })
  printStatus(read.status)
}

function printStatus(s: HaechiStatus): void {
  const { profile: p, wakes, violations, kills } = s
  const last = s.periods.at(-1)
  line(`${plain(s.node)}: period ${s.epoch} of ${s.settings.periodNs / 1e6} ms, clients are ${s.backend.kind}`)
  const from = p.from === 'given' ? 'given' : `${figure(p.intervals)} intervals of ${p.intervalNs / 1e6} ms`
  line(
    `capacity ${figure(p.globalIops)} I/O/s, sigma ${(100 * p.sigma).toFixed(1)} % (${from}); one client ${figure(p.localIops)} I/O/s`,
  )
  if (last)
    line(`estimate ${figure(last.nextOmega)} tokens, ${figure(last.reserved)} reserved, ${figure(last.used)} used`)
  const row = (...cells: string[]): void =>
    line(cells.map((c, i) => (i === 0 ? c.padEnd(16) : c.padStart(13))).join(''))
  row('client', 'state', 'reserved', 'limit', 'completed', 'met')
  for (const c of s.clients) {
    const of = s.periods.flatMap((period) => period.clients.filter((one) => one.client === c.client))
    const met = of.filter((one) => one.completed + one.yielded >= one.reservation).length
    const completed = last?.clients.find((one) => one.client === c.client)?.completed
    const counts = [figure(c.reservation), c.limit === null ? '-' : figure(c.limit)]
    row(plain(c.name), c.state, ...counts, completed === undefined ? '-' : figure(completed), `${met} of ${of.length}`)
  }
  line(
    `data node's CPU: ${wakes.data} wake-ups by ${figure(s.dataIos)} data I/Os; ${figure(wakes.timer)} checks, ${wakes.send} messages`,
  )
  const lost =
    kills.count === 0 ? '' : `; ${kills.count} clients killed with ${figure(kills.lost + kills.unowned)} tokens`
  line(`tokens: ${violations.count} violations${lost}`)
  for (const violation of violations.latest) line(`  ${plain(violation)}`)
}

export function haechiCommand(): Command {
  const haechi = new Command('haechi')
    .description('QoS of one-sided I/O: a data node, its clients, and commands to it')
    .showHelpAfterError('(see sluice haechi --help)')
    .enablePositionalOptions()
    .exitOverride()
  haechi
    .command('node')
    .description('run a data node with clients in processes of their own until it is stopped')
    .option(
      '--client <words>',
      'NAME [reservation=N] [limit=N] [workload=W] [reads=S] [job=ID]; repeatable',
      (w, all: string[]) => {
        clientOf(w)
        return [...all, w]
      },
      [],
    )
    .option('--name <name>', 'name of the node in the console', hostname().slice(0, 64))
    .option(...CONTROL)
    .option('--capacity <list>', 'I/O/s of the node, and of one client (default: measured)', wholes)
    .option('--sigma <share>', 'standard deviation of the capacity (default: measured)', ratio)
    .option('--intervals <n>', 'intervals of the measurement', least(1), 1000)
    .option('--interval-ms <n>', 'length of one, ms', least(1), 10)
    .option('--profile-clients <n>', 'clients that measure the capacity', least(1), availableParallelism())
    .option('--measure-again', 'measure the capacity even if it is known')
    .option('--records <n>', 'records of 4 KB', least(1), 16_384)
    .option('--slots <n>', 'most clients at a time', least(1), 64)
    .option('--period-ms <n>', 'period T, ms', least(2), 1000)
    .option('--batch <n>', 'tokens per claim of a client', least(1), NODE_SETTINGS.batch)
    .option('--completions <n>', 'completions per poll of a client', least(1), REAL_NODE_DEFAULTS.completionBatch)
    .option('--no-estimator', 'do not update the capacity estimate')
    .option('--fluid', 'admit only reservations that also finish under equal shares')
    .option('--threads', 'run clients as threads of this process, as where no compiler is')
    .option('--cc <compiler>', 'compiler for the helper', 'cc')
    .option('--data <folder>', 'data folder that keeps the measured capacity')
    .action((flags: DaemonFlags) => node(flags))
  haechi
    .command('status')
    .description('show the state of the node that runs here')
    .option(...CONTROL)
    .option('--json', 'one JSON document, as the console reads it')
    .option('--since <epoch>', 'periods after this one only', integer)
    .action((flags: { control?: string; json?: true; since?: number }) =>
      status(
        [...(flags.json ? ['--json'] : []), ...(flags.since === undefined ? [] : ['--since', String(flags.since)])],
        flags.control,
      ),
    )
  const commands = [
    ['set', '[--run ID] CLIENT [reservation=N] [limit=N|none]: change a reservation from the next period on'],
    ['add', 'CLIENT [reservation=N] [limit=N|none] [workload=W] [reads=S] [job=ID]: start a client'],
    ['remove', 'CLIENT: end a client in order'],
    ['stop', 'stop the node'],
  ] as const
  for (const [name, what] of commands) {
    haechi
      .command(name)
      .description(what)
      .option(...CONTROL)
      .argument('[args...]')
      .allowUnknownOption()
      .passThroughOptions()
      .action((rest: string[], { control }: { control?: string }) => command([name, ...rest], control))
  }
  haechi
    .command('measure')
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
    .action((flags: NodeFlags) => measure(flags))
  return haechi
}
