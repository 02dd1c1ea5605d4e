/**
 * Cost of control at the paper's period in this process: 12 servers with 4 OSTs of 40 jobs each, all active, ten periods a second, AdapTBF
 * in advise mode with its history in memory. The servers are stand-ins that answer as sluice-read does; their text is made beforehand.
 */
import { ok } from '#core/base/result.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import { ADAPTBF } from '#core/controllers/registry.ts'
import { CounterStream } from '#core/lustre/counter-stream.ts'
import { formatEntry, OST_COUNTERS, type PrintableCounter } from '#core/lustre/job-stats-print.ts'
import { profile } from '#core/lustre/profile.ts'
import { printed } from '#tests/kits/electron/answers.ts'
import { Audit } from '../../base/audit.ts'
import type { CounterSource, NodeConnection } from '../../base/connection.ts'
import { detach } from '../../base/detach.ts'
import { History } from '../../history/history.ts'
import { LiveSource } from '../live/live-source.ts'
import { ClusterMonitor } from '../monitor.ts'

const SERVERS = 12
const OSTS = 4
const JOBS = 40
const CONTROL_MS = 100
/** Answers made beforehand; more than a run needs. */
const STEPS = 200
const WARM_MS = 3000
const WINDOW_MS = 8000

const RELEASE = profile('2.15')
const NAMES = OST_COUNTERS(RELEASE)

const POLICIES = `
regular_requests:
  - name: fifo
    state: started
    fallback: yes
    queued: 0
    active: 0

  - name: tbf jobid
    state: started
    fallback: no
    queued: 12
    active: 8

high_priority_requests:
  - name: fifo
    state: started
    fallback: yes
    queued: 0
    active: 0
`
const RULES =
  'regular_requests:\nCPT 0:\ndefault * 10000, ref 40\nhigh_priority_requests:\nCPT 0:\ndefault * 10000, ref 0\n'

function entryAt(job: number, step: number): string {
  const samples = 1000 + step * (3 + (job % 7))
  const counter = (each: number): PrintableCounter => ({
    samples,
    min: 4096,
    max: 1_048_576,
    sum: samples * each,
    sumsq: String(samples * each * each),
    hist: new Map([[20, samples]]),
  })
  const times = {
    snapshot: `${1_767_225_600 + step}.${100_000_000 + job}`,
    start: '1767225000.000000001',
    elapsed: '600.1',
  }
  const counters = new Map([
    ['write_bytes', counter(1_048_576)],
    ['write', counter(400)],
  ])
  return formatEntry(
    { jobId: `${5000 + job}.ior.u${job % 9}`, times, counters },
    NAMES,
    RELEASE.text.jobStats,
  ).trimEnd()
}

/** Entries of one table at each step, as sluice-read prints them. */
const bodies: string[] = []
function makeBodies(): void {
  while (bodies.length < STEPS) {
    const step = bodies.length
    let body = ''
    for (let job = 0; job < JOBS; job++) {
      const entry = entryAt(job, step)
      body += `entry ${job + 1} ${entry.length}\n${entry}\n`
    }
    bodies.push(detach(body))
  }
}

/** Streaming reader of one server. */
function counters(server: number): CounterSource {
  const answers = new CounterStream(detach)
  let step = 0
  return {
    read: async (names) => {
      const body = bodies[Math.min(step, STEPS - 1)] ?? ''
      const sequence = ++step
      answers.expect(sequence, names)
      let text = `begin ${sequence} ${step}.10 ${step * 1_000_000}\n`
      for (let ost = 0; ost < OSTS; ost++) {
        const target = `lab-OST${(server * OSTS + ost).toString(16).padStart(4, '0')}`
        text += `table obdfilter.${target}.job_stats ${JOBS}\n${body}`
      }
      if (step === 1) {
        for (const [name, value] of [
          ['ost.OSS.ost_io.nrs_policies', POLICIES],
          ['ost.OSS.ost_io.nrs_tbf_rule', RULES],
        ] as const) {
          text += `value ${name} ${value.length}\n${value}`
        }
      }
      text += `end ${sequence} ${step}.11\n`
      await new Promise((done) => setTimeout(done, 2))
      const read = answers.push(text)
      if (!read.ok) return read
      if (!read.value) throw new Error('an answer is incomplete')
      return ok(read.value)
    },
  }
}

async function control(): Promise<number> {
  makeBodies()
  const nodes = Array.from({ length: SERVERS }, (_, i): NodeConnection => ({
    host: `oss${String(i).padStart(2, '0')}`,
    roles: ['oss'],
    counters: counters(i),
    exec: async (command) => (command.includes('version') ? printed('2.15.8\n') : printed('', 'no such file', 2)),
  }))
  const startMs = Date.now()
  const opened = History.open(':memory:', startMs)
  if (!opened.ok) throw new Error(opened.error.what)
  const history = opened.value
  history.beginSource('LIVE', 'lab', '', startMs)
  const source = new LiveSource({
    cluster: 'lab',
    nodes,
    maxRate: 2000,
    periodNs: 1000 * NS_PER_MS,
    controlNs: CONTROL_MS * NS_PER_MS,
    jobIdName: undefined,
  })
  const audit = new Audit((r) => history.recordAudit(r), history.lastAudit())
  const monitor = new ClusterMonitor({ source, history, audit, session: 'bench', mode: 'advise', controller: ADAPTBF })
  source.start((atNs) => monitor.tick(atNs))
  monitor.startPeriods(() => undefined)
  const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
  await sleep(WARM_MS)
  const before = process.cpuUsage()
  const from = performance.now()
  await sleep(WINDOW_MS)
  const { user, system } = process.cpuUsage(before)
  const seconds = (performance.now() - from) / 1000
  const { serverPeriods } = monitor
  await source.stop()
  await monitor.stopPeriods()
  history.close()
  const perSecond = serverPeriods.reduce((n, p) => n + p.periods, 0) / (seconds + WARM_MS / 1000 - 1)
  if (serverPeriods.some((p) => !p.hasOwnClock)) throw new Error('a server has no own clock')
  if (perSecond < 0.5 * SERVERS * (1000 / CONTROL_MS)) throw new Error(`only ${perSecond} periods/s`)
  // Cost of a period, times the number required: a machine that misses some would seem cheap.
  return ((user + system) / 1e6 / seconds / perSecond) * SERVERS * (1000 / CONTROL_MS)
}

export const benches = [
  {
    id: 'control.12-servers-10hz',
    unit: 'cores',
    must: { most: 0.5 },
    note: 'processor seconds a second of control, 12 servers with 4 OSTs of 40 active jobs, 10 periods/s',
    limit: 'parsing of what changed, which is every entry here; SSH is not in it',
    runs: 5,
    run: control,
  },
]
