/**
 * The control period on servers with real parts (tests/lab/period): processor time of a reading on the server, bytes of a reading,
 * intervals of readings of 1 and 12 servers, and the end of the reader of a killed console.
 *
 * All ways of reading take turns in one run, each through a login of its own; what counts is the processor time of all processes
 * of that login, without sshd and with it. Parameters are files of a tmpfs: the kernel's time for printing real ones is in none.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { median, quantile } from '#core/base/statistics.ts'
import { filteredCommand } from '#electron/cluster/probes/job-filter.ts'
import { CounterReader, readerProgram } from '#electron/cluster/remote/counter-reader.ts'
import type { Session } from '#electron/ssh/session.ts'
import { endpointOf, knowing, sessionOf, stopSessions } from '#tests/kits/electron/ssh/console.ts'
import { scratch } from '#tests/kits/electron/ssh/sshd.ts'
import { noServers } from '../tests/lab/nspawn.ts'
import { PROGRAMS, startPeriodLab, TREE, type Feed, type PeriodLab } from '../tests/lab/period/lab.ts'
import { ConsoleFolder, ownRulesOn } from '../tests/servers/lab.ts'
import { told, type Measured, type Suite } from './measure.ts'

const HZ = 10
const STEP_MS = 1000 / HZ
/** Readings behind one figure, and figures of each way. */
const READINGS = 15
const ROUNDS = 5
const NAMES = ['obdfilter.*.job_stats', 'ost.OSS.ost_io.nrs_policies', 'ost.OSS.ost_io.nrs_tbf_rule']
const AWKS = ['mawk', 'gawk', 'busybox awk'] as const
type Awk = (typeof AWKS)[number]
const nameOf = (awk: Awk): string => awk.split(' ')[0] ?? awk

const SIZES = {
  '40x4': { jobs: 40, targets: 4, changed: 40, hz: HZ },
  '40x4-idle': { jobs: 40, targets: 4, changed: 8, hz: HZ },
  '300x8': { jobs: 300, targets: 8, changed: 60, hz: HZ },
} as const satisfies Record<string, Feed>

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

/** One way of reading over an open session. */
interface Open {
  /** @returns bytes received. */
  read(): Promise<number>
  close(): void
}

interface Way {
  readonly id: string
  readonly note: string
  readonly awk?: Awk
  open(session: Session, feed: Feed): Promise<Open>
}

const filesOf = ({ targets }: Feed): string[] => [
  ...Array.from({ length: targets }, (_, i) => `${TREE}/obdfilter/period-OST000${i}/job_stats`),
  `${TREE}/ost/OSS/ost_io/nrs_policies`,
  `${TREE}/ost/OSS/ost_io/nrs_tbf_rule`,
]

/** Way of a command in the session's shell. */
function command(id: string, note: string, line: (feed: Feed, sinceMs: number) => string, awk?: Awk): Way {
  return {
    id,
    note,
    ...(awk && { awk }),
    open: async (session, feed) => {
      let beforeMs = Date.now()
      return {
        read: async () => {
          const sinceMs = beforeMs
          beforeMs = Date.now()
          const ran = await session.run(line(feed, sinceMs))
          if (!ran.ok || ran.value.code !== 0) throw new Error(`${id}: ${JSON.stringify(ran).slice(0, 300)}`)
          return ran.value.stdout.length
        },
        close: () => undefined,
      }
    },
  }
}

/** Way of a program that reads all files once for each line, and prints a line that begins with `read`. */
function plain(id: string, note: string, text: (files: string) => string, awk?: Awk): Way {
  return {
    id,
    note,
    ...(awk && { awk }),
    open: async (session, feed) => {
      const started = await session.stream(`exec ${text(filesOf(feed).join(' '))}\n`)
      if (!started.ok) throw new Error(started.error.why)
      const stream = started.value
      const line = (): Promise<string> =>
        new Promise((resolve, reject) => {
          stream.onData(resolve)
          void stream.closed.then((why) => reject(new Error(`${id}: ${why}`)))
        })
      await line()
      return {
        read: async () => {
          const answer = line()
          stream.write(`${'1'.padEnd(awk === 'mawk' ? MAWK_BUFFER - 1 : 1)}\n`)
          return (await answer).length
        },
        close: () => stream.close(),
      }
    },
  }
}

/** mawk reads no line before its buffer is full. */
const MAWK_BUFFER = 4096
const PLAIN_AWK =
  'BEGIN{print "ready";fflush();while((getline q<"/dev/stdin")>0){n=0;' +
  'for(i=1;i<ARGC;i++){while((getline l<ARGV[i])>0)n+=length(l)+1;close(ARGV[i])}print "read " n;fflush()}}'

async function ready(session: Session): Promise<{ reader: CounterReader; read: () => Promise<number> }> {
  const reader = new CounterReader(() => session.stream(readerProgram()))
  const read = async (): Promise<number> => {
    for (;;) {
      const r = await reader.read(NAMES)
      if (r.ok) return r.value.bytes
      if (r.error.why !== 'it is starting') throw new Error(JSON.stringify(r.error))
      await sleep(10)
    }
  }
  await read()
  return { reader, read }
}

const stream = (awk: Awk): Way => ({
  id: `sluice-read.${nameOf(awk)}`,
  note: `sluice-read with ${awk}`,
  awk,
  open: async (session) => {
    const { reader, read } = await ready(session)
    return { read, close: () => reader.close() }
  },
})

const nsOf = (ms: number): number => (ms % 1000) * 1e6

const WAYS: readonly Way[] = [
  ...AWKS.map((awk) =>
    command(
      `lctl.${nameOf(awk)}`,
      `today: one lctl and one ${awk} a reading`,
      (_, sinceMs) => filteredCommand(NAMES, { s: Math.floor(sinceMs / 1000), ns: nsOf(sinceMs) }),
      awk,
    ),
  ),
  command('cat', 'one cat a reading', (feed) => `cat ${filesOf(feed).join(' ')}`),
  plain('plain.c', 'a C program that only reads, in blocks', (files) => `${PROGRAMS}/plain-reader ${files}`),
  ...AWKS.map((awk) =>
    plain(`plain.${nameOf(awk)}`, `${awk} that only reads lines`, (files) => `awk '${PLAIN_AWK}' ${files}`, awk),
  ),
  ...AWKS.map(stream),
]

/** Copies gawk of this machine with its libraries for the servers, which have only mawk and busybox. */
function copyGawk(): string {
  const folder = scratch()
  mkdirSync(join(folder, 'lib'))
  const libraries = execFileSync('ldd', ['/usr/bin/gawk'], { encoding: 'latin1' })
  for (const [path] of libraries.matchAll(/\/\S+\.so\S*/g)) copyFileSync(path, join(folder, 'lib', basename(path)))
  copyFileSync('/usr/bin/gawk', join(folder, 'gawk'))
  return folder
}

const AWK_CALL: Readonly<Record<Awk, string>> = {
  mawk: '/usr/bin/mawk',
  gawk: `${PROGRAMS}/extra/lib/ld-linux-x86-64.so.2 --library-path ${PROGRAMS}/extra/lib ${PROGRAMS}/extra/gawk`,
  'busybox awk': '/bin/busybox awk',
}

async function choose(lab: PeriodLab, host: string, awk: Awk): Promise<void> {
  const text = `#!/bin/sh\\nexec ${AWK_CALL[awk]} "$@"\\n`
  await lab.run(host, `rm -f /usr/bin/awk; printf '${text}' >/usr/bin/awk; chmod 755 /usr/bin/awk`)
}

async function login(lab: PeriodLab, host: string): Promise<Session> {
  const { port, sshd } = lab.lab.node(host)
  const session = sessionOf(knowing(sshd.knownLines()), endpointOf(port, [lab.lab.identity], { user: 'root' }))
  const connected = await session.connect()
  if (!connected.ok) throw new Error(connected.error.why)
  return session
}

/** Processor time of the processes of logins so far, ms: of sshd, and of all others with the children they waited for. */
async function cpuOf(lab: PeriodLab, host: string): Promise<{ readonly sshd: number; readonly programs: number }> {
  const text = await lab.run(
    host,
    'for p in /proc/[0-9]*; do grep -q /session- $p/cgroup && cat $p/stat $p/schedstat; done 2>/dev/null; :',
  )
  const cpu = { sshd: 0, programs: 0 }
  for (const [, name, stat, ns] of text.matchAll(/^\d+ \((.*)\) (.*)\n(\d+) \d+ \d+$/gm)) {
    const fields = (stat ?? '').split(' ')
    // cutime and cstime, in ticks of 10 ms; the time of the process itself in ns.
    const ms = Number(ns) / 1e6 + 10 * (Number(fields[13]) + Number(fields[14]))
    cpu[name?.startsWith('sshd') ? 'sshd' : 'programs'] += ms
  }
  return cpu
}

/** Rules of a controller for 40 jobs, so that all ways read them. */
const TBF = "lctl set_param ost.OSS.ost_io.nrs_policies='tbf jobid'"
const RULES = [
  'for i in $(seq 40); do',
  'lctl set_param ost.OSS.ost_io.nrs_tbf_rule="start job_$i jobid={$((4000 + i)).ior.u1000} rate=$((100 + i))"; done',
].join('\n')

interface Cost {
  readonly programs: number[]
  readonly whole: number[]
  readonly bytes: number[]
}

/** Costs of a reading by way, ms of the server's processor. */
async function costs(lab: PeriodLab, host: string, feed: Feed, ways: readonly Way[]): Promise<Map<string, Cost>> {
  await lab.feed(host, feed)
  const found = new Map<string, Cost>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const way of ways) {
      if (way.awk) await choose(lab, host, way.awk)
      const session = await login(lab, host)
      const open = await way.open(session, feed)
      // Not the first reading, which prints everything.
      for (let i = 0; i < 3; i++) await open.read()
      const before = await cpuOf(lab, host)
      const from = performance.now()
      let bytes = 0
      for (let i = 1; i <= READINGS; i++) {
        bytes += await open.read()
        await sleep(Math.max(0, from + i * STEP_MS - performance.now()))
      }
      const after = await cpuOf(lab, host)
      const cost = found.get(way.id) ?? { programs: [], whole: [], bytes: [] }
      found.set(way.id, cost)
      cost.programs.push((after.programs - before.programs) / READINGS)
      cost.whole.push((after.programs + after.sshd - before.programs - before.sshd) / READINGS)
      cost.bytes.push(bytes / READINGS)
      process.stderr.write(
        `# ${feed.jobs}x${feed.targets} ${way.id}: ${cost.programs.at(-1)?.toFixed(2)} ms, ${cost.whole.at(-1)?.toFixed(2)} ms with sshd\n`,
      )
      open.close()
      session.stop()
      await sleep(50)
    }
  }
  return found
}

const LIMIT = 'an awk copies each record, compares it with the previous one and keeps it'

async function costFigures(lab: PeriodLab, host: string): Promise<Measured[]> {
  const all: Measured[] = []
  for (const [size, feed] of Object.entries(SIZES)) {
    const found = await costs(lab, host, feed, WAYS)
    const fed = await lab.endFeed(host)
    const setting = `${feed.jobs} jobs on ${feed.targets} targets, ${feed.changed} of them change on each between two readings, by a feeder of ${(fed.cpuNs / 1e6 / Math.max(1, fed.steps)).toFixed(1)} ms a step that is not counted`
    const of = (id: string): Cost => found.get(id) ?? { programs: [], whole: [], bytes: [] }
    for (const way of WAYS) {
      const { programs, whole, bytes } = of(way.id)
      const beside = `sshd and the login's shells included: ${median(whole).toFixed(2)} ms; ${Math.round(median(bytes) / 1000)} kB`
      const note = `processor time of a server for one reading: ${way.note}; ${setting}; ${beside}`
      all.push(told({ id: `period.read.${size}.${way.id}`, unit: 'ms', note }, programs))
    }
    for (const awk of AWKS) {
      const name = nameOf(awk)
      const own = of(`sluice-read.${name}`).programs
      /** By rounds. */
      const ratio = (id: string): number[] => own.map((ms, round) => ms / (of(id).programs[round] ?? NaN))
      const facts = (to: string, most: number): Parameters<typeof told>[0] => ({
        id: `period.ratio.${size}.${name}.${to}`,
        unit: 'x',
        must: { most },
        note: `sluice-read with ${awk} to ${to}, ${setting}`,
        limit: LIMIT,
      })
      all.push(told(facts('lctl', 0.2), ratio(`lctl.${name}`)))
      all.push(told(facts('plain-awk', 1.5), ratio(`plain.${name}`)))
      all.push(told(facts('plain-c', 1.5), ratio('plain.c')))
    }
  }
  return all
}

/** Bytes of a reading over the number of changed jobs of each target. */
async function byteFigures(lab: PeriodLab, host: string): Promise<Measured[]> {
  const { jobs, targets } = SIZES['40x4']
  const points: (readonly [number, number])[] = []
  await choose(lab, host, 'mawk')
  for (const changed of [0, 5, 10, 20, 30, 40]) {
    const feed = { jobs, targets, changed, hz: HZ }
    await lab.feed(host, feed)
    const session = await login(lab, host)
    const open = await stream('mawk').open(session, feed)
    for (let i = 0; i < 3; i++) await open.read()
    const bytes: number[] = []
    const from = performance.now()
    for (let i = 1; i <= READINGS; i++) {
      await sleep(Math.max(0, from + i * STEP_MS - performance.now()))
      bytes.push(await open.read())
    }
    points.push([changed * targets, Math.round(median(bytes))])
    open.close()
    session.stop()
  }
  await lab.endFeed(host)
  const base = points[0]?.[1] ?? NaN
  const slopes = points.slice(1).map(([n, bytes]) => (bytes - base) / n)
  return [
    {
      ...told(
        {
          id: 'period.bytes.per-change',
          unit: 'B',
          note: `bytes of a reading for one changed entry of job_stats, by the number of changed entries of ${jobs * targets}; without a change ${base} B`,
          limit: 'the beginning of an entry, up to the last line that changed',
        },
        slopes,
      ),
      points,
    },
  ]
}

/** The paper's way: every table is cleared after each period. */
async function clearingFigures(lab: PeriodLab, host: string): Promise<Measured[]> {
  await choose(lab, host, 'mawk')
  const feed = SIZES['300x8']
  const clear = "lctl set_param 'obdfilter.*.job_stats=clear'"
  const cleared = (way: Way): Way => ({
    ...way,
    id: `${way.id}.cleared`,
    open: async (session, f) => {
      const open = await way.open(session, f)
      return {
        ...open,
        read: async () => {
          const bytes = await open.read()
          await session.run(clear)
          return bytes
        },
      }
    },
  })
  const ways = WAYS.filter((w) => w.id === 'lctl.mawk' || w.id === 'sluice-read.mawk').flatMap((w) => [w, cleared(w)])
  const found = await costs(lab, host, feed, ways)
  await lab.endFeed(host)
  return ways.map(({ id, note }) => {
    const { programs, bytes } = found.get(id) ?? { programs: [], bytes: [] }
    const how = id.endsWith('.cleared') ? 'cleared by lctl after each' : 'not cleared'
    const size = `${feed.jobs} jobs on ${feed.targets} targets, ${feed.changed} of them at work`
    return told(
      {
        id: `period.clearing.${id}`,
        unit: 'ms',
        note: `processor time of a server for a reading: ${note}; ${how}; ${size}; ${Math.round(median(bytes) / 1000)} kB`,
      },
      programs,
    )
  })
}

const INTERVALS_S = 15
/** Windows of a measurement, each with figures of its own. */
const WINDOWS = 5

/** Quantile of each window of values in the order of time. */
const inWindows = (values: readonly number[], q: number): number[] =>
  Array.from({ length: WINDOWS }, (_, w) => {
    const at = (n: number): number => Math.floor((n * values.length) / WINDOWS)
    return quantile(Float64Array.from(values.slice(at(w), at(w + 1))).sort(), q)
  })

/** Processor time of a program in each window, in cores. */
async function coresIn(windowMs: number, cpuMs: () => number): Promise<number[]> {
  const cores: number[] = []
  for (let w = 0; w < WINDOWS; w++) {
    const before = cpuMs()
    const from = performance.now()
    await sleep(windowMs)
    cores.push((cpuMs() - before) / (performance.now() - from))
  }
  return cores
}

/** Time that the processors of this machine were busy since it started, ms. */
function machineMs(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = readFileSync('/proc/stat', 'latin1')
    .split('\n', 1)[0]!
    .replace(/^cpu +/, '')
    .split(' ')
    .map(Number)
  return 10 * (user + nice + system + irq + soft)
}

const LAB_LIMIT = 'console, emulator and all servers share the cores of this machine'

/** Readings of servers ten times a second, each with deadlines of its own, spread over the period. */
async function intervalFigures(lab: PeriodLab, hosts: readonly string[]): Promise<Measured[]> {
  const open = await Promise.all(
    hosts.map(async (host) => {
      await lab.feed(host, SIZES['40x4'])
      return ready(await login(lab, host))
    }),
  )
  const intervals: number[] = []
  let missed = 0
  const from = performance.now()
  const cores = coresIn((INTERVALS_S * 1000) / WINDOWS, () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  })
  await Promise.all(
    open.map(async ({ read }, i) => {
      let last = NaN
      for (let n = 0; n < INTERVALS_S * HZ; n++) {
        const due = from + (n + i / open.length) * STEP_MS
        if (performance.now() > due + STEP_MS) {
          missed++
          continue
        }
        await sleep(Math.max(0, due - performance.now()))
        await read()
        const at = performance.now()
        if (!Number.isNaN(last)) intervals.push(at - last)
        last = at
      }
    }),
  )
  for (const { reader } of open) reader.close()
  for (const host of hosts) await lab.endFeed(host)
  const id = `period.interval.${hosts.length}-servers`
  const setting = `readings of ${hosts.length} servers at ${HZ} Hz for ${INTERVALS_S} s, 40 jobs on 4 targets each, all change; ${missed} of ${intervals.length + missed + hosts.length} missed`
  return [
    told({ id: `${id}.p50`, unit: 'ms', note: setting }, inWindows(intervals, 0.5)),
    told(
      { id: `${id}.p99`, unit: 'ms', note: setting, must: { most: 130 }, limit: LAB_LIMIT },
      inWindows(intervals, 0.99),
    ),
    told(
      {
        id: `${id}.console`,
        unit: 'cores',
        note: `processor of the console; ${setting}`,
        must: { most: 0.5 },
        limit: LAB_LIMIT,
      },
      await cores,
    ),
  ]
}

/** Control period of each server, ms. Samples are taken once a second. */
const SET_MS = Number(process.env.SLUICE_PERIOD_MS ?? 100)
const LOOP_MS = 20_000
const START_MS = 90_000

const ticksOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
/** Processor time of a process and its descendants, ms; in steps of 10. */
function treeMs(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .split(' ')
    .filter((w) => w.trim() !== '')
  return 10 * ticksOf(pid) + children.reduce((ms, child) => ms + treeMs(Number(child)), 0)
}

interface Line {
  readonly t: number
  readonly shadow_left_s?: number
  readonly missing?: readonly unknown[]
  readonly rules: readonly { readonly rules: readonly unknown[] }[]
  /** Control periods by server; intervals and misses of the last minute. */
  readonly periods?: readonly {
    readonly own_clock: boolean
    readonly run_ms: number
    readonly why?: string
    readonly periods: number
    readonly missed: number
    readonly p50_ms?: number
    readonly p99_ms?: number
    readonly collect_ms?: number
    readonly decide_ms?: number
    readonly write_ms?: number
    readonly read_back_ms?: number
  }[]
}

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((l) => JSON.parse(l) as Line)

/** Process ids on this machine of the readers of these servers. */
async function readersOf(lab: PeriodLab, hosts: readonly string[]): Promise<number[]> {
  const spaces = new Set<string>()
  for (const host of hosts) spaces.add((await lab.run(host, 'readlink /proc/1/ns/pid')).trim())
  const linkOf = (pid: string, name: string): string => {
    try {
      return readlinkSync(`/proc/${pid}/${name}`)
    } catch {
      return ''
    }
  }
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && linkOf(pid, 'exe').endsWith('/mawk') && spaces.has(linkOf(pid, 'ns/pid')))
    .map(Number)
}

/**
 * `sluice control` of these servers in enforce mode: its intervals by its own lines, its processor time, and what is left after
 * it was killed.
 */
async function loopFigures(lab: PeriodLab, hosts: readonly string[]): Promise<Measured[]> {
  for (const host of hosts) {
    await choose(lab, host, 'mawk')
    await lab.feed(host, SIZES['40x4-idle'])
  }
  const folder = new ConsoleFolder(lab.lab, hosts.length === 1 ? hosts[0] : undefined)
  const set = ['--controller', 'adaptbf', '--mode', 'enforce', '--period', String(SET_MS)]
  const words = [...set, '--target', folder.cluster, '--json']
  const console = folder.start('control', folder.cluster, ...words)
  const pid = console.child.pid ?? 0
  let isEnded = false
  void console.ended.then(() => (isEnded = true))
  const enforcing = (): Line[] => linesOf(console.stdout()).filter((l) => l.shadow_left_s === undefined)
  for (const from = performance.now(); enforcing().length < 10; await sleep(200)) {
    if (isEnded) throw new Error((await console.ended).stderr)
    if (performance.now() - from > START_MS) throw new Error('the controller did not begin to enforce')
  }
  const first = enforcing().length
  const busyFrom = { ms: machineMs(), at: performance.now() }
  const cores = await coresIn(LOOP_MS / WINDOWS, () => treeMs(pid))
  const busy = (machineMs() - busyFrom.ms) / (performance.now() - busyFrom.at)
  const lines = enforcing().slice(first)
  const readers = new Set(await readersOf(lab, hosts))
  console.child.kill('SIGKILL')
  const killed = performance.now()
  const readerEnds: number[] = []
  const rulesEnd: number[] = []
  const ruled = new Set(hosts)
  while (readers.size > 0) {
    await sleep(10)
    for (const reader of readers) {
      if (existsSync(`/proc/${reader}`)) continue
      readers.delete(reader)
      readerEnds.push((performance.now() - killed) / 1000)
    }
  }
  while (ruled.size > 0) {
    await sleep(200)
    for (const host of ruled) {
      if ((await ownRulesOn(lab.lab, host)).length > 0) continue
      ruled.delete(host)
      rulesEnd.push((performance.now() - killed) / 1000)
    }
  }
  for (const host of hosts) await lab.endFeed(host)
  const periods = lines.flatMap((l) => l.periods ?? [])
  const last = lines.at(-1)?.periods ?? []
  const own = last.filter((s) => s.own_clock).length
  const missed = last.reduce((n, s) => n + s.missed, 0)
  const made = last.reduce((n, s) => n + s.periods, 0)
  const partial = lines.filter((l) => (l.missing?.length ?? 0) > 0).length
  const rules = lines.at(-1)?.rules.reduce((n, r) => n + r.rules.length, 0) ?? 0
  const id = `period.loop.${hosts.length}-servers`
  const longer = last.flatMap(({ run_ms, why }) => (run_ms > SET_MS ? [`${run_ms} ms: ${why ?? ''}`] : []))
  const parts = (['collect_ms', 'decide_ms', 'write_ms', 'read_back_ms'] as const)
    .map(
      (part) => `${part.replace(/_ms$/, '').replace('_', '-')} ${median(last.map((s) => s[part] ?? NaN)).toFixed(1)}`,
    )
    .join(', ')
  const note = `sluice control, AdapTBF, enforce, control period ${SET_MS} ms, ${hosts.length} servers of 40 jobs on 4 targets, 8 change on each in a period; ${busy.toFixed(2)} of ${availableParallelism()} cores busy with console, servers and all else; ${own} by their own clock; ${rules} rules at the end; ${missed} of ${made + missed} periods missed in the last minute, ${partial} samples without a server; ms: ${parts}${longer.length > 0 ? `; longer on ${longer.length}: ${longer[0]}` : ''}`
  const left: Measured[] = [
    told(
      {
        id: `${id}.killed.reader`,
        unit: 's',
        note: 'from kill -9 of the console to the end of a reader',
        must: { most: 2 },
        limit: LAB_LIMIT,
      },
      readerEnds,
    ),
    told(
      { id: `${id}.killed.rules`, unit: 's', note: 'from kill -9 to the end of the rules, by their lease' },
      rulesEnd,
    ),
  ]
  return [
    told(
      { id: `${id}.p50`, unit: 'ms', note },
      periods.flatMap((s) => s.p50_ms ?? []),
    ),
    told(
      { id: `${id}.p99`, unit: 'ms', note, must: { most: 130 }, limit: LAB_LIMIT },
      periods.flatMap((s) => s.p99_ms ?? []),
    ),
    told(
      {
        id: `${id}.console`,
        unit: 'cores',
        note: `processor of the console: ${note}`,
        must: { most: 0.5 },
        limit: LAB_LIMIT,
      },
      cores,
    ),
    // A figure of one server would be of one run.
    ...(hosts.length >= WINDOWS ? left : []),
  ]
}

async function run(): Promise<Measured[]> {
  if (noServers !== '') throw new Error(noServers)
  const only = process.env.SLUICE_PERIOD_BENCH ?? 'cost bytes clearing intervals loop'
  const all: Measured[] = []
  const isMany = only.includes('intervals') || only.includes('loop')
  const lab = await startPeriodLab({
    servers: isMany ? 12 : 1,
    targets: 8,
    settings: { interval_ms: 1000, max_rate: 2000 },
    ...(existsSync('/usr/bin/gawk') && { extra: copyGawk() }),
  })
  try {
    const host = lab.hosts[0] ?? ''
    for (const each of lab.hosts) await lab.run(each, TBF)
    if (only.includes('loop')) all.push(...(await loopFigures(lab, [host])), ...(await loopFigures(lab, lab.hosts)))
    await lab.run(host, RULES)
    if (only.includes('cost')) all.push(...(await costFigures(lab, host)))
    if (only.includes('bytes')) all.push(...(await byteFigures(lab, host)))
    if (only.includes('clearing')) all.push(...(await clearingFigures(lab, host)))
    if (only.includes('intervals')) {
      all.push(...(await intervalFigures(lab, [host])), ...(await intervalFigures(lab, lab.hosts)))
    }
  } finally {
    stopSessions()
    await lab.stop()
  }
  return all
}

export const suites: readonly Suite[] = [{ id: 'period', run }]
