/**
 * Benchmark of ccPFS on this machine: server, metadata server and clients as processes of their own over Unix sockets, each workload
 * under each lock manager, with real bytes that are read back and compared.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fail, formatFailure, ok, type Result } from '#core/base/result.ts'
import type { DlmPolicy } from '#core/seqdlm/policy.ts'
import { Ccpfs, type CcpfsFile } from '../lib.ts'
import { differenceIn, disorderIn, type ReadBytes } from './content.ts'
import { readReply, type BenchReply, type BenchRequest } from './bench-process.ts'
import { fileOf, operationsOf, type WorkloadName, type WorkloadSize } from './workloads.ts'

export interface BenchPlan {
  readonly workloads: readonly WorkloadName[]
  readonly policies: readonly DlmPolicy[]
  readonly size: WorkloadSize
  readonly servers: number
  readonly stripes: number
  readonly stripeSize: number
  /** True if servers answer a flush only when its data are on stable storage. */
  readonly syncsWrites: boolean
  /** Folder for data, emptied afterwards. */
  readonly folder: string
  /** Program and arguments that start a process of the benchmark. */
  readonly program: { readonly path: string; readonly args: readonly string[] }
}

/** Measurement of one workload under one lock manager. */
export interface BenchRun {
  readonly workload: WorkloadName
  readonly locks: string
  readonly clients: number
  readonly bytes: number
  /** From the first write's start to the last write's end. */
  readonly seconds: number
  /** 10^6 bytes/s while writing. */
  readonly mb_s: number
  /** Until everything was on stable storage. */
  readonly total_seconds: number
  readonly total_mb_s: number
  /** Part of the clients' writing time in which they waited for locks. */
  readonly lock_share: number
  readonly lock_requests: number
  /** Every byte was read back by another client and is right. */
  readonly verified: boolean
  /** First difference; absent if verified. */
  readonly difference?: string
}

/** Longest time of one step of all processes. */
const STEP_MS = 300_000
const READ_BYTES = 1 << 20

class Process {
  readonly #child: ChildProcess
  #onReply: ((reply: BenchReply) => void) | undefined
  #ended = false

  constructor({ path, args }: BenchPlan['program']) {
    this.#child = fork(path, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    this.#child.on('message', (value) => this.#answer(readReply(value)))
    this.#child.on('exit', (code, signal) => {
      this.#ended = true
      this.#answer({ kind: 'failed', why: `the process ended with ${signal ?? code}` })
    })
    this.#child.on('error', (e) => this.#answer({ kind: 'failed', why: e.message }))
  }

  async ask(request: BenchRequest): Promise<BenchReply> {
    if (this.#ended) return { kind: 'failed', why: 'the process has ended' }
    const { promise, resolve } = Promise.withResolvers<BenchReply>()
    this.#onReply = resolve
    const timer = setTimeout(() => this.#answer({ kind: 'failed', why: `no answer for ${STEP_MS / 1000} s` }), STEP_MS)
    this.#child.send(request)
    const reply = await promise
    clearTimeout(timer)
    if (reply.kind === 'failed') throw new BenchFailure(reply.why)
    return reply
  }

  end(): void {
    this.#onReply = undefined
    this.#child.kill('SIGKILL')
  }

  #answer(reply: BenchReply): void {
    const onReply = this.#onReply
    this.#onReply = undefined
    onReply?.(reply)
  }
}

class BenchFailure extends Error {}

/**
 * Runs a plan; each run is reported when it is over.
 *
 * @returns  CCPFS_BENCH if a process failed: the runs before it were reported.
 */
export async function runBench(plan: BenchPlan, onRun: (run: BenchRun) => void): Promise<Result<undefined>> {
  mkdirSync(plan.folder, { recursive: true, mode: 0o700 })
  const clients = Array.from({ length: plan.size.clients }, () => new Process(plan.program))
  let number = 0
  try {
    for (const workload of plan.workloads) {
      for (const policy of plan.policies) onRun(await oneRun(plan, workload, policy, clients, ++number))
    }
    return ok(undefined)
  } catch (e) {
    if (!(e instanceof BenchFailure)) throw e
    return fail({
      code: 'CCPFS_BENCH',
      what: 'The benchmark ended early',
      why: e.message,
      unaffected: 'The runs above are complete.',
      next: 'Check the free space of the data folder, or use fewer clients.',
    })
  } finally {
    for (const c of clients) c.end()
  }
}

async function oneRun(
  plan: BenchPlan,
  workload: WorkloadName,
  policy: DlmPolicy,
  clients: readonly Process[],
  run: number,
): Promise<BenchRun> {
  const { size, stripes, stripeSize, syncsWrites } = plan
  const folder = mkdtempSync(join(plan.folder, 'run-'))
  const servers: Process[] = []
  const start = async (request: BenchRequest): Promise<void> => {
    const server = new Process(plan.program)
    servers.push(server)
    await server.ask(request)
  }
  try {
    const sockets = Array.from({ length: plan.servers }, (_, i) => join(folder, `s${i}`))
    for (const [i, socket] of sockets.entries()) {
      await start({ kind: 'serve', socket, data: join(folder, `data-${i}`), policy: policy.name, syncsWrites })
    }
    const meta = join(folder, 'm')
    await start({
      kind: 'serve-names',
      socket: meta,
      data: join(folder, 'names'),
      servers: sockets,
      stripes,
      stripeSize,
    })
    const each = <T>(act: (client: Process, writer: number) => Promise<T>): Promise<T[]> =>
      Promise.all(clients.map(act))
    await each((c, writer) => c.ask({ kind: 'open', meta, workload, writer, run, size }))
    const wrote = (await each((c) => c.ask({ kind: 'write' }))).filter((r) => r.kind === 'wrote')
    const flushed = (await each((c) => c.ask({ kind: 'flush' }))).filter((r) => r.kind === 'flushed')
    const difference = await verify(plan, workload, meta, run)
    await each((c) => c.ask({ kind: 'leave' }))
    const fromMs = Math.min(...wrote.map((w) => w.fromMs))
    const seconds = (Math.max(...wrote.map((w) => w.toMs)) - fromMs) / 1000
    const total = (Math.max(...flushed.map((f) => f.toMs)) - fromMs) / 1000
    const bytes = clients.reduce((n, _, writer) => n + bytesOf(workload, writer, size), 0)
    const writingMs = wrote.reduce((n, w) => n + w.toMs - w.fromMs, 0)
    return {
      workload,
      locks: policy.name,
      clients: clients.length,
      bytes,
      seconds,
      mb_s: bytes / 1e6 / seconds,
      total_seconds: total,
      total_mb_s: bytes / 1e6 / total,
      lock_share: wrote.reduce((n, w) => n + w.lockWaitMs, 0) / writingMs,
      lock_requests: wrote.reduce((n, w) => n + w.lockRequests, 0),
      verified: difference === undefined,
      ...(difference === undefined ? {} : { difference }),
    }
  } finally {
    for (const s of servers) s.end()
    rmSync(folder, { recursive: true, force: true })
  }
}

export function bytesOf(workload: WorkloadName, writer: number, size: WorkloadSize): number {
  let bytes = 0
  for (const operation of operationsOf(workload, writer, size))
    for (const { start, end } of operation) bytes += end - start
  return bytes
}

/** Reads all files back as a client of its own. @returns the first difference. */
async function verify(
  { size }: BenchPlan,
  workload: WorkloadName,
  meta: string,
  run: number,
): Promise<string | undefined> {
  const fs = await Ccpfs.connect({ meta: { path: meta } })
  if (!fs.ok) throw new BenchFailure(formatFailure(fs.error))
  try {
    const writers = Array.from({ length: size.clients }, (_, i) => i)
    const open = async (writer: number): Promise<CcpfsFile> => {
      const file = await fs.value.open(`/${fileOf(workload, writer)}`)
      if (!file.ok) throw new BenchFailure(formatFailure(file.error))
      return file.value
    }
    const reader =
      (file: CcpfsFile): ReadBytes =>
      async ({ start, end }) => {
        const parts: Uint8Array[] = []
        for (let at = start; at < end; at += READ_BYTES) {
          const part = await file.read(at, Math.min(READ_BYTES, end - at))
          if (!part.ok) throw new BenchFailure(formatFailure(part.error))
          parts.push(part.value)
        }
        return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
      }
    if (workload === 'tile') {
      const all = writers.flatMap((writer) =>
        operationsOf(workload, writer, size).map((operation) => ({ writer, operation })),
      )
      return await disorderIn(reader(await open(0)), run, all)
    }
    const shared = workload === 'n-n' ? undefined : await open(0)
    for (const writer of writers) {
      const read = reader(shared ?? (await open(writer)))
      const difference = await differenceIn(read, writer, run, operationsOf(workload, writer, size))
      if (difference !== undefined) return `${fileOf(workload, writer)}: ${difference}`
    }
    return undefined
  } finally {
    await fs.value.close()
  }
}
