/**
 * Measurement of the control lag on a server with real sshd, sudo and systemd (tests/lab): reading by sluice-read, decision of AdapTBF,
 * rule commands through sudo and sluice-rule, read-back. Writes core/papers/adaptbf/measured-lag.ts, from which the experiments draw.
 *
 *     node tests/servers/measure-lag.ts [CYCLES]      # the lag, written to the file
 *     node tests/servers/measure-lag.ts --costs       # time and CPU time of each kind of command, as in docs/connect.md
 *
 * Not measured: the kernel's own time for a parameter, because `lctl` and the parameter files are those of the emulator.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism, cpus, release } from 'node:os'
import { join } from 'node:path'
import { serverInput } from '#core/api/clusters.ts'
import { DEFAULT_LOOP_OPTIONS } from '#core/adaptbf/loop-options.ts'
import { getParamCommand, setParamCommand } from '#core/lustre/lctl.ts'
import { invariant } from '#core/base/result.ts'
import { quantile } from '#core/base/statistics.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import { LIVE_FENCES } from '#core/control/fences.ts'
import { ADAPTBF } from '#core/controllers/registry.ts'
import { Audit } from '#electron/base/audit.ts'
import type { ClusterSource, ExecResult, NodeConnection } from '#electron/base/connection.ts'
import { SERVICES } from '#electron/base/service.ts'
import { ControlLoop } from '#electron/cluster/control/control-loop.ts'
import { CLEAR_COMMAND } from '#electron/cluster/control/job-stats-clearing.ts'
import { LiveServer } from '#electron/cluster/live/live-server.ts'
import { SshAccess } from '#electron/cluster/live/ssh-access.ts'
import { FIND_READERS } from '#electron/cluster/probes/other-readers.ts'
import { parseShellCpu, READ_SHELL_CPU } from '#electron/cluster/probes/shell-cpu.ts'
import { ProbeScheduler } from '#electron/cluster/probes/probe-scheduler.ts'
import { ServerProbe } from '#electron/cluster/probes/server-probe.ts'
import { NodeCollector, type NodeReading } from '#electron/cluster/read/collector.ts'
import { JobRegistry } from '#electron/cluster/state/job-registry.ts'
import { scratch } from '../kits/electron/ssh/sshd.ts'
import { startLab } from '../lab/lab.ts'
import { LOGIN, noServers } from '../lab/nspawn.ts'

const HOST = 'oss01'
const isOfCosts = process.argv[2] === '--costs'
const CYCLES = Number((isOfCosts ? undefined : process.argv[2]) ?? 200)
/** Runs of each kind of command whose costs are measured. */
const RUNS = 100
/** Cycles before the measurement. */
const WARM_UP = 20
const FILE = join(import.meta.dirname, '../../core/papers/adaptbf/measured-lag.ts')

/** Four jobs of the paper's priorities, as in its experiments. */
const SCENARIO = `title: Lag
cluster: lag
clients: { count: 4 }
control: { max_rate: 500, mode: observe }
oss:
  - { name: ${HOST}, osts: [{ name: lag-OST0000, disk: { bandwidth_mb_s: 600 } }] }
jobs:
${[1, 1, 3, 5]
  .map(
    (_, i) =>
      `  - { id: "${101 + i}.job.u100${i + 1}", clients: [${i + 1}], op: write, size_kib: 1024, total_rpcs: 100000000, pattern: { kind: continuous } }`,
  )
  .join('\n')}
`

const TREE = '/sys/kernel/debug/lustre'
const SETUP = [
  `mountpoint -q /sys/kernel/debug && [ -d ${TREE} ] || { mount -t tmpfs -o mode=0700 tmpfs /sys/kernel/debug; mkdir ${TREE}; }`,
  `mkdir -p ${TREE}/obdfilter/lag-OST0000 ${TREE}/ost/OSS/ost_io`,
  `lctl set_param "ost.OSS.ost_io.nrs_policies=tbf jobid"`,
].join('\n')
/** Writes the emulated parameters to files where debugfs has them; outside of the measured time. */
const FILES = [
  `cd ${TREE}`,
  'put() { lctl $2 >new && mv new "$1"; }',
  'put devices dl',
  'put obdfilter/lag-OST0000/job_stats "get_param -n obdfilter.lag-OST0000.job_stats"',
  'for n in nrs_policies nrs_tbf_rule stats; do put ost/OSS/ost_io/$n "get_param -n ost.OSS.ost_io.$n"; done',
].join('\n')

/** Times of one cycle, ms. */
interface Cycle {
  /** From the reading on the server to the decision. */
  readonly ageMs: number
  /** Controller, fences and plan. */
  readonly decideMs: number
  /** Each rule command, from sending to its answer. */
  readonly commandMs: readonly number[]
  readonly readBackMs: number
  /** From the decision to the end of the read-back, with everything between them. */
  readonly writeMs: number
  /** The server's own time of the reading; in steps of 10 ms. */
  readonly streamMs: number | undefined
}

if (noServers !== '') throw new Error(noServers)
const scenario = join(scratch(), 'lag.yaml')
writeFileSync(scenario, SCENARIO)
const lab = await startLab({ parts: 'nspawn', scenario, servers: [HOST], login: 'ops', sudo: 'clear' })
try {
  if (isOfCosts) await measureCosts()
  else report(await measure())
} finally {
  await lab.stop()
}
process.exit(0)

/** Connection to the server, and a function that ends it. */
async function connect(): Promise<{ readonly node: NodeConnection; readonly leave: () => void }> {
  const access = new SshAccess({ knownHosts: [{ path: lab.knownHosts, isRequired: true }], configFile: lab.sshConfig })
  const server = new LiveServer(serverInput.parse({ host: HOST, user: LOGIN }), access)
  await server.bring()
  const node = server.node(['oss'])
  if (!node || !server.isReady) throw new Error(JSON.stringify(server.steps))
  const leave = (): void => {
    server.forget()
    access.stop()
  }
  return { node, leave }
}

/** Prints time and CPU time on the server of each kind of command, mean of many runs. */
async function measureCosts(): Promise<void> {
  const { node, leave } = await connect()
  await must(SETUP)
  await must(FILES)
  const { jobStats, policies, rules } = SERVICES.ost_io
  const cpuMs = async (): Promise<number> => parseShellCpu((await run(node, READ_SHELL_CPU)).stdout)?.ms ?? NaN
  const name = 'sluice_cost'
  const kinds: readonly (readonly [name: string, command: (at: number) => string])[] = [
    ['sample by lctl, one call', () => getParamCommand(jobStats, policies, rules)],
    ['read-back of rules by lctl', () => getParamCommand(rules)],
    ['rule change by sluice-rule', (at) => setParamCommand(rules, `change ${name} rate=${10 + at}`)],
    ['clearing of job_stats', () => CLEAR_COMMAND],
    ['search for other readers', () => FIND_READERS],
  ]
  await run(node, setParamCommand(rules, `start ${name} jobid={101.job.u1001} rate=5`))
  for (const [kind, command] of kinds) {
    const before = await cpuMs()
    const began = performance.now()
    let bytes = 0
    for (let at = 0; at < RUNS; at++) bytes += (await run(node, command(at))).stdout.length
    const tookMs = (performance.now() - began) / RUNS
    printCost(kind, tookMs, ((await cpuMs()) - before) / RUNS, bytes / RUNS)
  }
  await run(node, setParamCommand(rules, `stop ${name}`))
  const readings: { readonly tookMs: number; readonly cpuMs: number; readonly bytes: number }[] = []
  while (readings.length < RUNS) {
    await must(FILES)
    const began = performance.now()
    const read = await node.counters?.read([jobStats, policies, rules])
    if (read?.ok) readings.push({ tookMs: performance.now() - began, cpuMs: read.value.cpuMs, bytes: read.value.bytes })
    else await new Promise((again) => setTimeout(again, 20))
  }
  const of = readings.slice(1)
  const meanOf = (values: readonly number[]): number => values.reduce((n, v) => n + v, 0) / values.length
  const cpu = ((readings.at(-1)?.cpuMs ?? NaN) - (readings[0]?.cpuMs ?? NaN)) / of.length
  printCost('sample by sluice-read', meanOf(of.map((r) => r.tookMs)), cpu, meanOf(of.map((r) => r.bytes)))
  leave()
}

function printCost(kind: string, tookMs: number, cpuMs: number, bytes: number): void {
  console.log(
    `${kind.padEnd(28)} ${tookMs.toFixed(1)} ms, ${cpuMs.toFixed(2)} ms of CPU time, ${bytes.toFixed(0)} bytes`,
  )
}

async function run(node: NodeConnection, command: string): Promise<ExecResult> {
  const ran = await node.exec(command)
  if (!ran.ok) throw new Error(ran.error.what)
  if (ran.value.code > 1 || ran.value.stderr !== '') throw new Error(`${command}: ${ran.value.stderr}`)
  return ran.value
}

async function measure(): Promise<readonly Cycle[]> {
  const { node: inner, leave } = await connect()
  const sent: { readonly command: string; readonly ms: number }[] = []
  const node: NodeConnection = {
    host: inner.host,
    roles: inner.roles,
    timers: inner.timers,
    get counters() {
      return inner.counters
    },
    literal: (command) => inner.literal?.(command) ?? command,
    exec: async (command) => {
      const began = performance.now()
      const answer = await inner.exec(command)
      sent.push({ command, ms: performance.now() - began })
      return answer
    },
  }
  const source: ClusterSource = {
    kind: 'LIVE',
    cluster: 'lag',
    nodes: [node],
    maxRate: 500,
    periodNs: 100 * NS_PER_MS,
    nowNs: () => Math.round(performance.now() * NS_PER_MS),
    toUnixMs: (ns) => Math.round(performance.timeOrigin + ns / NS_PER_MS),
  }
  const board = new ProbeScheduler(source)
  const collector = new NodeCollector(new ServerProbe(node, board, source, 5), board, source)
  const jobs = new JobRegistry()
  const loop = new ControlLoop(source, new Audit(() => undefined), 'lag', {
    mode: 'enforce',
    controller: ADAPTBF,
    options: DEFAULT_LOOP_OPTIONS,
    fences: { ...LIVE_FENCES, shadowNs: 0 },
    jobIds: { systemJobs: () => () => false },
  })
  const read = async (): Promise<NodeReading> => {
    for (;;) {
      await must(FILES)
      const reading = await collector.begin(source.nowNs())
      if (reading && !reading.ok) throw new Error(reading.reason)
      const [first] = reading?.readings ?? []
      if (first && first.targets.length > 0) return first
      await new Promise((again) => setTimeout(again, 20))
    }
  }
  await must(SETUP)
  const cycles: Cycle[] = []
  for (let n = 0; n < WARM_UP + CYCLES; n++) {
    const reading = await read()
    for (const { deltas } of reading.targets) for (const d of deltas ?? []) jobs.meet(d.jobId, Date.now())
    sent.length = 0
    const nowNs = source.nowNs()
    const { period, written } = loop.begin(node, reading, jobs, nowNs)
    const after = await written
    if (loop.failures.length > 0) throw new Error(JSON.stringify(loop.failures))
    const commandMs = sent.flatMap(({ command, ms }) => (command.includes('nrs_tbf_rule=') ? [ms] : []))
    if (n < WARM_UP || !after || commandMs.length === 0) continue
    cycles.push({
      ageMs: (nowNs - reading.atNs) / NS_PER_MS,
      decideMs: period.allocateMs,
      commandMs,
      readBackMs: sent.at(-1)?.ms ?? NaN,
      writeMs: after.applyMs,
      streamMs: reading.stream?.tookMs,
    })
  }
  loop.setMode('observe')
  const last = loop.begin(node, await read(), jobs, source.nowNs())
  await last.written
  leave()
  return cycles
}

async function must(line: string): Promise<void> {
  const { code, stderr } = await lab.exec(HOST, line)
  invariant(code === 0, stderr)
}

/** Quantiles of 0, 5, ... 100 %, ms. */
function distribution(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b)
  return Array.from({ length: 21 }, (_, i) => Number(quantile(sorted, i / 20).toFixed(2)))
}

function report(cycles: readonly Cycle[]): void {
  const measured = {
    ageMs: distribution(cycles.map((c) => c.ageMs + c.decideMs)),
    commandMs: distribution(cycles.flatMap((c) => [...c.commandMs])),
    readBackMs: distribution(cycles.map((c) => c.readBackMs)),
  }
  const writeMs = distribution(cycles.map((c) => c.ageMs + c.writeMs))
  const commands = cycles.reduce((n, c) => n + c.commandMs.length, 0)
  const streamed = cycles.filter((c) => c.streamMs !== undefined).length
  if (streamed < cycles.length) throw new Error(`sluice-read gave ${streamed} of ${cycles.length} readings`)
  const machine = `${availableParallelism()} cores of ${cpus()[0]?.model ?? '?'}, Linux ${release()}, Debian bookworm in systemd-nspawn`
  const text = `/**
 * Control lag measured on a server with real sshd, sudo and systemd by tests/servers/measure-lag.ts, which writes this file. The lctl
 * there is a stand-in, and console and server share one machine: a network adds a round trip to the reading, to each command and to
 * the read-back.
 */
import type { LagSetup } from './control.ts'

export const MEASURED_LAG = {
  date: '${new Date().toISOString().slice(0, 10)}',
  command: 'node tests/servers/measure-lag.ts ${CYCLES}',
  machine: '${machine}',
  /** Cycles with commands, and their commands. */
  cycles: ${cycles.length},
  commands: ${commands},
  /** Quantiles of 0, 5, ... 100 %, ms. */
  lag: {
    /** From the middle of a reading by sluice-read to the decision, and the decision. */
    ageMs: ${JSON.stringify(measured.ageMs)},
    /** One rule command through sudo and sluice-rule, from sending to its answer. */
    commandMs: ${JSON.stringify(measured.commandMs)},
    /** Read-back of the rules by lctl through sudo. */
    readBackMs: ${JSON.stringify(measured.readBackMs)},
  } satisfies LagSetup,
  /** From the reading to the end of the read-back. */
  totalMs: ${JSON.stringify(writeMs)},
} as const
`
  writeFileSync(FILE, text)
  console.log(text)
}
