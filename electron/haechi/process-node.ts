/**
 * Node of processes: the helper's monitor and one process per client, over one mapped file. This process starts and ends them and
 * reads what they print; no I/O passes through it, and it does not map the memory.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync } from 'node:fs'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { NewClient } from '#core/haechi/console.ts'
import type { AlertKind } from '#core/haechi/monitor-events.ts'
import { endsWithin } from '../base/deadline.ts'
import type { BackendOptions, NodeBackend, StartedClient } from './backend.ts'
import { helperSettings } from './helper.ts'
import { readHelperLines, type HelperLine, type LineOf } from './helper-lines.ts'
import { openSharedFile } from './shared-file.ts'

const WORKLOADS = ['idle', 'backlogged', 'burst', 'constant'] as const
/** Time for a process to start, to answer, and to end in order, wall ms. */
const START_MS = 10_000
const ANSWER_MS = 10_000
const END_MS = 5000

const died = (who: string, why: string): Failure => ({
  code: 'HAECHI_PROCESS',
  what: `The process of ${who} ended unexpectedly`,
  why,
  next: 'Start the node again.',
})

/** Descriptor of the memory in every process of the helper: resources/haechi/haechi.h. */
const stdioWith = (fd: number) => ['pipe', 'pipe', 'pipe', fd] as const

type HelperOptions = readonly (readonly [name: string, value: number])[]

/** Starts a process of the helper over a memory. */
export function startHelper(helper: string, role: string, options: HelperOptions, fd: number): ChildProcess {
  const args = [role, ...options.map(([name, value]) => `${name}=${value}`)]
  return spawn(helper, args, { stdio: [...stdioWith(fd)], env: {} })
}

/** Resolves with the reason when a process has ended: its message, or how it ended. */
export function endOf(child: ChildProcess): Promise<string> {
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-500)))
  // Writing to a process that has ended is no error of its own.
  child.stdin?.on('error', () => undefined)
  return new Promise((resolve) => {
    child.once('error', (e) => resolve(e.message))
    child.once('close', (code, signal) => resolve(stderr.trim() || (signal ?? `exit status ${code}`)))
  })
}

/** Options of a client's process. */
export const clientOptions = (
  c: Pick<NewClient, 'workload' | 'reads'>,
  at: { slot: number; slots: number; records: number; origin: bigint; seed: number; completionBatch: number },
): HelperOptions => [
  ['slot', at.slot],
  ['slots', at.slots],
  ['records', at.records],
  ['origin', Number(at.origin)],
  ['parent', process.pid],
  ['seed', at.seed],
  ['completions', at.completionBatch],
  ['reads', Math.round(c.reads * 1000)],
  ['workload', WORKLOADS.indexOf(c.workload.kind)],
  ['per-period', 'perPeriod' in c.workload ? c.workload.perPeriod : 0],
]

interface Running {
  readonly slot: number
  readonly child: ChildProcess
  readonly ended: Promise<string>
  isLeaving: boolean
}

export class ProcessNode implements NodeBackend {
  readonly kind = 'processes'
  readonly #helper: string
  readonly #options: BackendOptions
  readonly #fd: number
  readonly #origin = process.hrtime.bigint()
  readonly #clients = new Map<number, Running>()
  /** Slots that are free, and the epoch from which they may be used again: the monitor keeps a client until the next T1. */
  readonly #used = new Map<number, number>()
  readonly #waiting = new Map<number, (isDone: boolean) => void>()
  readonly #last = new Map<number, LineOf<'last'>>()
  #monitor: ChildProcess
  #ended: Promise<string>
  #ready: () => void = () => undefined
  #epoch = 0
  #nextClient = 0
  #requests = 0
  #isClosing = false

  private constructor(helper: string, options: BackendOptions, fd: number) {
    this.#helper = helper
    this.#options = options
    this.#fd = fd
    const { settings, profile, slots, records, sampleNs } = options
    const own = [
      ['slots', slots],
      ['records', records],
      ['origin', Number(this.#origin)],
      ['sample', sampleNs],
    ] as const
    this.#monitor = startHelper(helper, 'node', [...own, ...helperSettings(settings, profile)], fd)
    this.#ended = endOf(this.#monitor)
  }

  /** Failures: HAECHI_MEMORY, HAECHI_PROCESS. */
  static async open(helper: string, options: BackendOptions): Promise<Result<ProcessNode>> {
    const fd = openSharedFile()
    if (!fd.ok) return fd
    const node = new ProcessNode(helper, options, fd.value)
    const opened = await node.#open()
    if (opened.ok) return ok(node)
    await node.close()
    return opened
  }

  async #open(): Promise<Result<void>> {
    const ready = new Promise<undefined>((resolve) => (this.#ready = () => resolve(undefined)))
    const { stdout } = this.#monitor
    if (stdout)
      readHelperLines(
        stdout,
        (line) => this.#take(line),
        () => this.#monitor.kill('SIGKILL'),
      )
    void this.#ended.then((why) => {
      for (const answer of this.#waiting.values()) answer(false)
      if (!this.#isClosing) this.#options.events.failed(died('the monitor', why))
    })
    const why = await Promise.race([ready, this.#ended])
    return why === undefined ? ok(undefined) : fail(died('the monitor', why))
  }

  nowNs(): number {
    return Number(process.hrtime.bigint() - this.#origin)
  }

  /** Process id of the data node: its wake-ups can be counted from outside. */
  get pid(): number | undefined {
    return this.#monitor.pid
  }

  async start(): Promise<Result<void>> {
    return this.#request('start')
  }

  async join(c: NewClient): Promise<Result<StartedClient>> {
    const { slots, records, seed, completionBatch, settings, profile } = this.#options
    const slot = this.#freeSlot()
    if (slot === undefined) {
      return fail({ code: 'E_SLOTS', what: 'The data node has no report slot left', why: `all ${slots} are taken` })
    }
    const client = this.#nextClient++
    // Taken from now on, even if the start fails.
    this.#used.set(slot, Infinity)
    const prepared = await this.#request('prepare', client, slot)
    if (!prepared.ok) return prepared
    const at = { slot, slots, records, origin: this.#origin, seed, completionBatch }
    const options = [...clientOptions(c, at), ...helperSettings(settings, profile)]
    const child = startHelper(this.#helper, 'client', options, this.#fd)
    const ended = endOf(child)
    const running: Running = { slot, child, ended, isLeaving: false }
    const isReady = new Promise<undefined>((resolve) => child.stdout?.once('data', () => resolve(undefined)))
    const late = new Promise<string>((resolve) =>
      setTimeout(() => resolve('it did not start in time'), START_MS).unref(),
    )
    const why = await Promise.race([isReady, ended, late])
    const joined: Result<void> =
      why === undefined
        ? await this.#request('join', client, slot, c.reservation, c.limit ?? -1)
        : fail(died(`client ${c.name}`, why))
    if (!joined.ok) {
      child.kill('SIGKILL')
      this.#used.set(slot, this.#epoch + 1)
      return joined
    }
    this.#clients.set(client, running)
    void ended.then(() => this.#onEnd(client, running))
    return ok({ client, pid: child.pid ?? null })
  }

  async leave(client: number): Promise<Result<void>> {
    const running = this.#clients.get(client)
    if (!running || running.isLeaving) return fail({ code: 'E_CLIENT', what: `Client ${client} does not run here` })
    running.isLeaving = true
    const ordered = await this.#request('order', client, running.slot)
    if (!ordered.ok || !(await endsWithin(running.ended, END_MS))) running.child.kill('SIGKILL')
    await running.ended
    return ok(undefined)
  }

  async reserve(client: number, reservation: number, limit: number | null): Promise<Result<void>> {
    return this.#request('reserve', client, reservation, limit ?? -1)
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#monitor.stdin?.end(`${++this.#requests} stop\n`)
    if (!(await endsWithin(this.#ended, END_MS))) this.#monitor.kill('SIGKILL')
    await this.#ended
    for (const { child, ended } of this.#clients.values()) {
      if (!(await endsWithin(ended, END_MS))) child.kill('SIGKILL')
      await ended
    }
    closeSync(this.#fd)
  }

  #freeSlot(): number | undefined {
    for (let slot = 0; slot < this.#options.slots; slot++) {
      const from = this.#used.get(slot)
      if (from === undefined || from < this.#epoch) return slot
    }
    return undefined
  }

  async #onEnd(client: number, running: Running): Promise<void> {
    this.#clients.delete(client)
    if (this.#isClosing) return
    // Its last report is read, its reservation is free from the next T1 on.
    await this.#request('leave', client, running.slot)
    this.#used.set(running.slot, this.#epoch + 1)
    if (!running.isLeaving) this.#options.events.killed(client, this.#last.get(client))
    this.#last.delete(client)
  }

  /** An order to the monitor's process, answered under its number. */
  async #request(verb: string, ...args: readonly number[]): Promise<Result<void>> {
    const refused = fail({ code: 'HAECHI_REFUSED', what: `The node refused to ${verb}` })
    if (this.#monitor.exitCode !== null || this.#isClosing) return fail(died('the monitor', 'it has ended'))
    const id = ++this.#requests
    const answer = new Promise<boolean>((resolve) => this.#waiting.set(id, resolve))
    this.#monitor.stdin?.write(`${[id, verb, ...args].join(' ')}\n`)
    const isInTime = await endsWithin(answer, ANSWER_MS)
    this.#waiting.delete(id)
    return isInTime && (await answer) ? ok(undefined) : refused
  }

  #take(line: HelperLine): void {
    const { events } = this.#options
    switch (line.k) {
      case 'ready':
        return this.#ready()
      case 'answer':
        return this.#waiting.get(line.id)?.(line.done)
      case 'begin':
        this.#epoch = line.epoch
        return events.begun(line.at, line.epoch, line.pool)
      case 'reports':
        return events.reportsStarted(line.at)
      case 'alert':
        return events.alert(line.at, line.alert, line.client, explained(line))
      case 'log':
        return events.log({ ...line, limit: line.limit < 0 ? null : line.limit })
      case 'sample':
        return events.sample({ n: line.n, c: line.c })
      case 'last':
        this.#last.set(line.client, line)
        return
      case 'period':
        return this.#period(line)
      default:
        return
    }
  }

  #period(p: LineOf<'period'>): void {
    const {
      k: _,
      start,
      end,
      poolChecks,
      clients,
      wakes,
      cpuNs,
      dataIos,
      overfull,
      lostMessages,
      droppedLines,
      ...rest
    } = p
    const period = {
      ...rest,
      startNs: start,
      endNs: end,
      poolChecks: poolChecks.map((v) => v ?? NaN),
      clients: clients.map(([client = -1, reservation = 0, completed = 0, yielded = 0]) => ({
        client,
        reservation,
        completed,
        yielded,
      })),
    }
    const counters = {
      timerWakes: wakes.timer,
      sendWakes: wakes.send,
      // The kernel counts every time that the process gave up its core; it does so itself only to sleep.
      dataWakes: Math.max(0, wakes.switches - wakes.sleeps),
      cpuNs,
      dataIos,
      overfull,
      lostMessages,
      droppedLines,
    }
    this.#options.events.period(period, counters)
  }
}

/** Sentence of an alert, as QosMonitor writes it. */
function explained({ alert, a, b }: { alert: AlertKind; a: number; b: number }): string {
  switch (alert) {
    case 'local-capacity-risk':
      return `${a} I/Os are left for ${b / 1e6} ms`
    case 'overcommitted':
      return `reservations are ${a} I/Os over the capacity of ${b}`
    case 'bad-report':
      return `residual ${a} of ${b} reserved`
    case 'over-reservation':
      return `unused for ${a} periods`
    case 'silent-client':
      return `no report for ${a / 1e6} ms`
    case 'fallback':
      // The helper has no advances to fall back from.
      return ''
  }
}
