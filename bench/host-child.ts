/**
 * Measures the host alone, on the cluster of host-world.ts, whose servers run in another process: memory at full retention, and
 * cost of one sample. Prints one line of JSON.
 *
 * Retained samples are written directly into the recent store; measured ones take the whole path, from the bytes of the servers
 * to the frames of an open Overview and Jobs view.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ok } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { ADAPTBF } from '#core/controllers/registry.ts'
import type { ClusterSource, NodeConnection } from '#electron/base/connection.ts'
import { ClusterMonitor } from '#electron/cluster/monitor.ts'
import { shareName } from '#electron/cluster/state/recent.ts'
import { Audit } from '#electron/base/audit.ts'
import { History } from '#electron/history/history.ts'
import { jobsFrame } from '#electron/host/views/jobs/jobs.ts'
import { overviewFrame } from '#electron/host/views/overview.ts'
import { LongView } from '#electron/recorded/long-view.ts'
import * as world from './host-world.ts'

/** Parameters of the process, and its results. */
export interface HostPlan {
  readonly jobs: number
  /** Share of the jobs that are active at any time. */
  readonly share: number
  /** Samples filled in, and samples measured. */
  readonly filled: number
  readonly samples: number
}

export interface HostFigures {
  /** MB at the end of each measured sample. */
  readonly pss: readonly number[]
  readonly heapUsed: number
  readonly external: number
  /** Processor time of each sample, ms: in total, and of its frames alone. */
  readonly sampleMs: readonly number[]
  readonly frameMs: readonly number[]
  /** Processor time of a plain loop over the bytes of a sample, ms, and bytes read. */
  readonly loopMs: readonly number[]
  readonly bytes: readonly number[]
}

const EPOCH_MS = 1_767_225_600_000

/** Processor time of this process, ms. */
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Proportional set size, MB. */
function pssMb(): number {
  const kb = /^Pss:\s+(\d+) kB/m.exec(readFileSync('/proc/self/smaps_rollup', 'latin1'))?.[1]
  return Number(kb) / 1000
}

/** Interval, in samples, at which the same bytes are also scanned in a plain loop. */
const LOOP_EVERY = 6
let second = 0
let bytesRead = 0
/** Answers of a sample, for the loop. */
let answered: Buffer[] = []

/** Servers, one command after the other, as in one pipe. */
function servers(plan: HostPlan): { readonly nodes: readonly NodeConnection[]; readonly stop: () => void } {
  const program = join(import.meta.dirname, 'host-servers.ts')
  const args = [program, plan.jobs, plan.share, plan.filled].map(String)
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting: ((text: string) => void)[] = []
  let parts: Buffer[] = []
  let have = 0
  let want = -1
  child.stdout.on('data', (part: Buffer) => {
    parts.push(part)
    have += part.length
    for (;;) {
      if (want < 0 && have >= 4) {
        const all = Buffer.concat(parts)
        want = all.readUInt32LE(0)
        parts = [all.subarray(4)]
        have -= 4
      }
      if (want < 0 || have < want) return
      const all = Buffer.concat(parts)
      const text = all.toString('latin1', 0, want)
      bytesRead += want
      if (second % LOOP_EVERY === 0) answered.push(all.subarray(0, want))
      parts = [all.subarray(want)]
      have -= want
      want = -1
      waiting.shift()?.(text)
    }
  })
  const nodes = Array.from({ length: world.SERVERS }, (_, i): NodeConnection => {
    const host = world.hostOf(i)
    const exec: NodeConnection['exec'] = (command) =>
      new Promise((resolve) => {
        waiting.push((stdout) => resolve(ok({ stdout, stderr: '', code: 0 })))
        child.stdin.write(`${second} ${host} ${command}\n`)
      })
    return { host, roles: ['oss'], exec }
  })
  return { nodes, stop: () => void child.kill() }
}

/**
 * Adds samples like SampleKeeper (electron/cluster/sample-store.ts): the activity of every job, and the targets of each active
 * one.
 */
function fill(plan: HostPlan, { recent, jobs }: ClusterMonitor): void {
  const known = Array.from({ length: plan.jobs }, (_, job) => {
    const targets = world.targetsOf(job)
    const shares = targets.map((target) => shareName(world.jobName(job), world.targetName(target)))
    const met = jobs.meet(world.jobName(job), EPOCH_MS).job
    for (const target of targets) met.targets.add(world.targetName(target))
    return {
      met,
      targets,
      shares,
      size: world.sizeOf(job),
      reads: Number(world.reads(job)),
      writes: Number(world.writes(job)),
    }
  })
  for (second = 1; second <= plan.filled; second++) {
    const atMs = EPOCH_MS + second * 1000
    recent.push(atMs)
    const scale = NS_PER_S / (world.readAtNs(second) - world.readAtNs(second - 1))
    for (const [job, { met, targets, shares, size, reads, writes }] of known.entries()) {
      if (!world.isBusy(job, second, plan.share)) {
        recent.raw.jobs.set(met.jobId, 0, 0, 0, 0, NaN, 0, 0, NaN, NaN)
        continue
      }
      met.lastActiveMs = atMs
      let all = 0
      for (const [i, target] of targets.entries()) {
        const rpcs = world.rpcsOf(job, target, second) * scale
        recent.shares.set(shares[i] as string, rpcs * (reads + writes), NaN, NaN, NaN)
        all += rpcs
      }
      const bytes = all * size
      recent.raw.jobs.set(met.jobId, all * (reads + writes), reads * bytes, writes * bytes, 0, NaN, 0, 0, NaN, NaN)
    }
  }
}

function byteLoop(buffers: readonly Buffer[]): number {
  const before = cpuMs()
  let lines = 0
  for (const b of buffers) for (let i = 0; i < b.length; i++) if (b[i] === 10) lines++
  if (lines === 0) throw new Error('nothing was answered')
  return cpuMs() - before
}

async function measure(plan: HostPlan): Promise<HostFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const opened = History.open(join(folder, 'history.sqlite'), EPOCH_MS)
  if (!opened.ok) throw new Error(opened.error.what)
  const history = opened.value
  history.beginSource('LIVE', 'lab', '', EPOCH_MS)
  const { nodes, stop } = servers(plan)
  const source: ClusterSource = {
    kind: 'LIVE',
    cluster: 'lab',
    nodes,
    maxRate: 10_000,
    periodNs: NS_PER_S,
    nowNs: () => world.readAtNs(second),
    toUnixMs: (ns) => EPOCH_MS + ns / 1e6,
  }
  const audit = new Audit((r) => history.recordAudit(r), history.lastAudit())
  const monitor = new ClusterMonitor({
    source,
    history,
    audit,
    session: 'bench',
    mode: 'observe',
    controller: ADAPTBF,
    probes: { budgetBytesPerSec: 1e12, off: ['ldlm'] },
    // On a busy machine, samples must not become cheaper by leaving out slow servers.
    readTimeouts: { waitMs: 60_000, silentMs: 120_000 },
  })
  fill(plan, monitor)
  // Filling half an hour within half a minute leaves garbage that half an hour would not.
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const view = new LongView(monitor)
  const jobs: Parameters<typeof jobsFrame>[1] = {
    at: null,
    windowMs: 300_000,
    target: '',
    filter: '',
    offset: 0,
    limit: 60,
    sort: 'rpcs',
    descending: true,
  }
  const [pss, sampleMs, frameMs, loopMs, bytes]: number[][] = [[], [], [], [], []]
  const first = second
  for (; second < first + plan.samples; second++) {
    bytesRead = 0
    const began = cpuMs()
    await monitor.tick(second * NS_PER_S)
    const sampled = cpuMs()
    overviewFrame(view, { at: null, windowMs: 300_000 }, second)
    const frame = jobsFrame(view, jobs, second)
    if (frame.known < plan.jobs * Math.min(1, plan.share) || monitor.failures.length > 0)
      throw new Error(`${frame.known} jobs, ${monitor.failures.map((f) => f.what).join()}`)
    const ended = cpuMs()
    sampleMs?.push(ended - began)
    frameMs?.push(ended - sampled)
    bytes?.push(bytesRead)
    if (second % LOOP_EVERY === 0) loopMs?.push(byteLoop(answered))
    answered = []
    pss?.push(pssMb())
  }
  stop()
  const { heapUsed, external } = process.memoryUsage()
  history.close()
  rmSync(folder, { recursive: true, force: true })
  return {
    ...({ pss, sampleMs, frameMs, loopMs, bytes } as Pick<
      HostFigures,
      'pss' | 'sampleMs' | 'frameMs' | 'loopMs' | 'bytes'
    >),
    heapUsed: heapUsed / 1e6,
    external: external / 1e6,
  }
}

if (import.meta.main)
  process.stdout.write(`${JSON.stringify(await measure(JSON.parse(process.argv[2] ?? '{}') as HostPlan))}\n`)
