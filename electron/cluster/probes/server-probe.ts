/**
 * Runs the readings of one server and measures their cost: one after another on a live server, each timed from sending
 * it to its last byte, and occasionally with the CPU time of the shell before and after.
 */
import type { ProbeId } from '#core/api/clusters.ts'
import { ok, type Result } from '#core/base/result.ts'
import { formatParam, readNames } from '#core/lustre/lctl.ts'
import type { CounterReading } from '#core/lustre/counter-stream.ts'
import type { ClusterSource, ExecResult, NodeConnection } from '../../base/connection.ts'
import type { ProbeScheduler } from './probe-scheduler.ts'
import { parseShellCpu, READ_SHELL_CPU, type ShellCpu } from './shell-cpu.ts'

/**
 * Runs the readings of one server one after another: two at once would double the load and distort each other's times.
 */
class ServerQueue {
  #queue: Promise<unknown> = Promise.resolve()

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work)
    this.#queue = result.catch(() => undefined)
    return result
  }
}

/** Runs of a probe between two measurements of its CPU time. */
const CPU_EVERY = 20
/** Runs from a measurement of the parts to one of the whole. */
const FULL_READ_AFTER = 2
/** Consecutive measurements without a result, after which there are no more. */
const CPU_TRIES = 3

export interface Timed {
  readonly result: ExecResult
  /** Wall time from sending the command to its last byte, ms. */
  readonly tookMs: number
  /** CPU time on the server, ms; undefined if not measured, or unknown. */
  readonly cpuMs: number | undefined
}

/** Reading of the streaming reader, with its cost. */
export interface Streamed extends Omit<Timed, 'result'> {
  readonly reading: CounterReading
}

export class ServerProbe {
  readonly node: NodeConnection
  readonly #board: ProbeScheduler
  /** undefined: the server is paused while it is read, so readings cannot overlap. */
  readonly #queue: ServerQueue | undefined
  readonly #runs = new Map<string, number>()
  #cpuFailures = 0
  /** CPU time of the streaming reader at the beginning of its last reading. */
  #streamCpuMs: number | undefined
  readonly #measuresCpu: boolean
  readonly #phase: number

  /** @param index  index of the server among all, which staggers the measurements. */
  constructor(node: NodeConnection, board: ProbeScheduler, source: Pick<ClusterSource, 'kind'>, index: number) {
    this.#phase = index % CPU_EVERY
    this.node = node
    this.#board = board
    this.#queue = source.kind === 'LIVE' ? new ServerQueue() : undefined
    this.#measuresCpu = source.kind === 'LIVE'
  }

  /** True if the server reports CPU time, as far as known. */
  get reportsCpu(): boolean {
    return this.#measuresCpu && this.#cpuFailures < CPU_TRIES
  }

  /**
   * Kind of cost measurement due for this run: every twentieth run is measured part by part, and another one as a
   * whole, because parts that are read separately cost more in total.
   */
  lookAt(kind: string): 'parts' | 'whole' | undefined {
    const n = this.#runs.get(kind) ?? 0
    this.#runs.set(kind, n + 1)
    if (!this.#measuresCpu) return undefined
    if (n % CPU_EVERY === this.#phase) return 'parts'
    return n % CPU_EVERY === (this.#phase + FULL_READ_AFTER) % CPU_EVERY ? 'whole' : undefined
  }

  /** Runs several commands without others in between. */
  together<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue ? this.#queue.run(work) : work()
  }

  /** Runs one command, within `together`. Failures: those of the node. */
  async exec(command: string, isCloseLook: boolean): Promise<Result<Timed>> {
    const looks = isCloseLook && this.#cpuFailures < CPU_TRIES
    const before = looks ? await this.#cpu() : undefined
    const began = performance.now()
    const ran = await this.node.exec(command)
    if (!ran.ok) return ran
    const tookMs = performance.now() - began
    const after = before ? await this.#cpu() : undefined
    if (looks) this.#cpuFailures = after && before && after.pid === before.pid ? 0 : this.#cpuFailures + 1
    const cpuMs = before && after?.pid === before.pid ? Math.max(0, after.ms - before.ms) : undefined
    return ok({ result: ran.value, tookMs, cpuMs })
  }

  /**
   * Reads parameters with the server's streaming reader, within `together`.
   *
   * @returns  undefined if there is none, or if it cannot read now: then lctl is used.
   */
  async stream(names: readonly string[]): Promise<Streamed | undefined> {
    const { counters } = this.node
    if (!counters) return undefined
    const began = performance.now()
    const read = await counters.read(names)
    if (!read.ok) {
      this.#streamCpuMs = undefined
      return undefined
    }
    // The process reports its CPU time at the beginning of a reading: it is that of the reading before.
    const before = this.#streamCpuMs
    this.#streamCpuMs = read.value.cpuMs
    const cpuMs = before === undefined || before > read.value.cpuMs ? undefined : read.value.cpuMs - before
    return { reading: read.value, tookMs: performance.now() - began, cpuMs }
  }

  /** Runs one reading of one probe in queue order, with the streaming reader where it can read all of it, and records its cost. Failures: those of the node. */
  async read(id: ProbeId, command: string): Promise<Result<ExecResult>> {
    return this.together(async () => {
      const names = this.node.counters && readNames(command)
      const streamed = names && (await this.stream(names))
      if (streamed && streamed.reading.absent.length === 0 && streamed.reading.values.size > 0) {
        const { reading, tookMs, cpuMs } = streamed
        this.#board.costs.add(id, reading.bytes, tookMs)
        if (cpuMs !== undefined) this.#board.costs.addCpu(id, cpuMs)
        const stdout = [...reading.values].map(([name, value]) => formatParam(name, value)).join('')
        return ok({ stdout, stderr: '', code: 0 })
      }
      const timed = await this.exec(command, this.lookAt(id) === 'parts')
      if (!timed.ok) return timed
      const { result, tookMs, cpuMs } = timed.value
      this.#board.costs.add(id, result.stdout.length + result.stderr.length, tookMs)
      if (cpuMs !== undefined) this.#board.costs.addCpu(id, cpuMs)
      return ok(result)
    })
  }

  async #cpu(): Promise<ShellCpu | undefined> {
    // Only the reading itself decides whether the server answers, not the measurement of its cost.
    const ran = await this.node.exec(READ_SHELL_CPU)
    return ran.ok && ran.value.code === 0 ? parseShellCpu(ran.value.stdout) : undefined
  }
}
