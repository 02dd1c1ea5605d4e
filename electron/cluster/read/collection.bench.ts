/**
 * Cost of collecting in this process: CPU seconds per second of sampling, over real sshds on loopback, in observe mode
 * with its history on disk. 12 servers once a second, and 100 servers every five seconds, each with one OST of 100 jobs
 * that are all active between any two readings. Against it, one `ssh` process per command, the CPU time of those
 * processes alone.
 *
 * The servers answer with a recorded text; changes are written into it here, and the time of that is counted too.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ok } from '#core/base/result.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import { ADAPTBF } from '#core/controllers/registry.ts'
import { startStillLab, type StillLab } from '../../../tests/lab/still-lab.ts'
import { Audit } from '../../base/audit.ts'
import { History } from '../../history/history.ts'
import { SshNode } from '../../ssh/ssh-node.ts'
import { Session } from '../../ssh/session.ts'
import { KeyRing } from '../../ssh/private-key.ts'
import { endpointOf, knowing } from '#tests/kits/electron/ssh/console.ts'
import { noSshd, scratch } from '#tests/kits/electron/ssh/sshd.ts'
import type { ClusterSource, NodeConnection } from '../../base/connection.ts'
import { ROOT_SCOPE } from '../remote/sudo-scope.ts'
import { ClusterMonitor } from '../monitor.ts'
import { gate } from '../remote/command.ts'

const JOBS = 100
const IDLE_MS = 5000
const READING = "lctl get_param 'obdfilter.*.job_stats' ost.OSS.ost_io.nrs_policies ost.OSS.ost_io.nrs_tbf_rule"

interface Plan {
  readonly servers: number
  readonly periodMs: number
  /** Duration of sampling behind one figure. */
  readonly windowMs: number
  /** Commands behind one figure of the baseline. */
  readonly processes: number
}

interface Parts {
  readonly lab: StillLab
  readonly monitor: ClusterMonitor
  readonly source: ClusterSource
  /** Answered readings of job_stats. */
  readonly answers: () => number
  stop(): void
}

/** Advances every counter of an answer, and its times: all jobs are active. */
function moved(text: string, n: number): string {
  const ns = String(n).padStart(9, '0')
  return text
    .replace(/(snapshot_time: +\d+)\.\d{9}/g, (_, s: string) => `${s}.${ns}`)
    .replace(/samples:( +)([1-9]\d*),/g, (_, gap: string, v: string) => {
      return `samples: ${String(Number(v) + n).padStart(gap.length - 1 + v.length)},`
    })
}

async function make({ servers, periodMs }: Plan): Promise<Parts> {
  const lab = await startStillLab({ servers, jobs: JOBS })
  const hostKeys = knowing(readFileSync(lab.knownHosts, 'latin1'))
  const ring = new KeyRing()
  const sessions = lab.ports.map((port) => {
    const endpoint = endpointOf(port, [lab.identity])
    return new Session(hostKeys, endpoint, { ring, random: () => 0.5, reconnects: false })
  })
  const nodes: NodeConnection[] = []
  let all = 0
  for (const [i, session] of sessions.entries()) {
    const connected = await session.connect()
    if (!connected.ok) throw new Error(connected.error.what)
    let n = 0
    const node = gate(new SshNode(`still${i}`, ['oss'], session), { isRoot: true, sudo: ROOT_SCOPE, lctl: 'lctl' })
    nodes.push({
      ...node,
      exec: async (command) => {
        const result = await node.exec(command)
        if (!result.ok || !command.includes('job_stats')) return result
        all++
        return ok({ ...result.value, stdout: moved(result.value.stdout, ++n) })
      },
    })
  }
  const opened = History.open(join(scratch(), 'history.sqlite'), Date.now())
  if (!opened.ok) throw new Error(opened.error.what)
  const history = opened.value
  const startMs = Date.now()
  history.beginSource('LIVE', 'still', '', startMs)
  const source: ClusterSource = {
    kind: 'LIVE',
    cluster: 'still',
    nodes,
    maxRate: 1000,
    periodNs: periodMs * NS_PER_MS,
    nowNs: () => Math.round((performance.timeOrigin + performance.now() - startMs) * NS_PER_MS),
    toUnixMs: (ns) => startMs + ns / NS_PER_MS,
  }
  const audit = new Audit((r) => history.recordAudit(r), history.lastAudit())
  const budget = { budgetBytesPerSec: 1e9 }
  const monitor = new ClusterMonitor({
    source,
    history,
    audit,
    session: 'bench',
    mode: 'observe',
    controller: ADAPTBF,
    probes: budget,
  })
  return {
    lab,
    monitor,
    source,
    answers: () => all,
    stop: () => {
      sessions.forEach((s) => s.stop())
      lab.stop()
      history.close()
    },
  }
}

const kept = new Map<Plan, { readonly parts: Promise<Parts>; idle: NodeJS.Timeout | undefined }>()

/** Provides the shared parts, which are stopped after some idle time: a bench does not know whether it is the last. */
async function using(plan: Plan, work: (parts: Parts) => Promise<number>): Promise<number> {
  const known = kept.get(plan) ?? { parts: make(plan), idle: undefined }
  kept.set(plan, known)
  clearTimeout(known.idle)
  const parts = await known.parts
  const value = await work(parts)
  known.idle = setTimeout(() => {
    kept.delete(plan)
    parts.stop()
  }, IDLE_MS)
  return value
}

async function collect(plan: Plan, { monitor, source, answers }: Parts): Promise<number> {
  const ticks = Math.round(plan.windowMs / plan.periodMs)
  const from = performance.now()
  const before = process.cpuUsage()
  const read = answers()
  for (let i = 1; i <= ticks; i++) {
    await monitor.tick(source.nowNs())
    await new Promise((done) => setTimeout(done, Math.max(0, from + i * plan.periodMs - performance.now())))
  }
  const { user, system } = process.cpuUsage(before)
  const readings = answers() - read
  if (readings < plan.servers) throw new Error(`only ${readings} readings`)
  // A machine that is too busy to answer all readings would seem cheap: hence the cost of a reading, times the number
  // required.
  return ((user + system) / 1e6 / readings) * ((plan.servers * 1000) / plan.periodMs)
}

/** CPU time of the processes that this one has waited for, ms. */
function childrenMs(): number {
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10
}

async function processes(plan: Plan, { lab }: Parts): Promise<number> {
  const options = ['-F', 'none', '-o', `UserKnownHostsFile=${lab.knownHosts}`, '-o', 'IdentitiesOnly=yes']
  const before = childrenMs()
  for (let i = 0; i < plan.processes; i++) {
    const port = String(lab.ports[i % lab.ports.length])
    const args = [...options, '-o', 'BatchMode=yes', '-i', lab.identity, '-p', port, `${lab.user}@127.0.0.1`, READING]
    await new Promise<void>((resolve, reject) => {
      execFile('ssh', args, { maxBuffer: 64 << 20 }, (e) => (e ? reject(new Error(e.message)) : resolve()))
    })
  }
  // As many commands per second as the other way of reading servers.
  const perSec = (plan.servers * 1000) / plan.periodMs
  return ((childrenMs() - before) / plan.processes / 1000) * perSec
}

const TWELVE: Plan = { servers: 12, periodMs: 1000, windowMs: 4000, processes: 6 }
const HUNDRED: Plan = { servers: 100, periodMs: 5000, windowMs: 10_000, processes: 10 }
const note =
  'processor seconds a second of sampling, each server an OST of 100 jobs that all do something between two readings'
const beside = 'one ssh process a command, without parsing what it answered'
const limit = 'each answer is deciphered and parsed; the time in which the bench moves its counters on is in it too'

export const benches =
  noSshd === ''
    ? [
        {
          id: 'collect.12-servers-1hz',
          unit: 'cores',
          must: { most: 0.25 },
          note,
          beside,
          limit,
          runs: 5,
          run: () => using(TWELVE, (parts) => collect(TWELVE, parts)),
          baseline: () => using(TWELVE, (parts) => processes(TWELVE, parts)),
        },
        {
          id: 'collect.100-servers-0.2hz',
          unit: 'cores',
          must: { most: 0.5 },
          note,
          beside,
          limit,
          runs: 5,
          run: () => using(HUNDRED, (parts) => collect(HUNDRED, parts)),
          baseline: () => using(HUNDRED, (parts) => processes(HUNDRED, parts)),
        },
      ]
    : []
