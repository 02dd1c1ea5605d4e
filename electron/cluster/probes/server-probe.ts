/**
 * Runs the readings of one server and tells what they cost: one after another on a live server, each timed from sending it to its
 * last byte, and now and then between two looks at the CPU time of the shell there.
 */
import type { ProbeId } from '#core/api/clusters.ts'
import { ok, type Result } from '#core/base/result.ts'
import type { ClusterSource, ExecResult, NodeConnection } from '../../base/connection.ts'
import type { ProbeBoard } from './board.ts'
import { ServerQueue } from './server-queue.ts'
import { parseShellCpu, READ_SHELL_CPU, type ShellCpu } from './shell-cpu.ts'

/** Every so many runs of a probe its CPU time is looked at. */
const CPU_EVERY = 20
/** Runs from a look at the parts to one at the whole. */
const WHOLE_AFTER = 2
/** Looks in a row without a figure, after which there are no more. */
const CPU_TRIES = 3

export interface Timed {
  readonly result: ExecResult
  /** From sending the command to its last byte, ms of wall time. */
  readonly tookMs: number
  /** CPU time on the server, ms; undefined where it was not looked at, or is not known. */
  readonly cpuMs: number | undefined
}

export class ServerProbe {
  readonly node: NodeConnection
  readonly #board: ProbeBoard
  /** undefined: the server stands still while it is read, so readings cannot meet. */
  readonly #queue: ServerQueue | undefined
  readonly #runs = new Map<string, number>()
  #cpuFailures = 0
  readonly #measuresCpu: boolean
  readonly #phase: number

  /** @param index  of the server among all: they are not looked at closely all at once. */
  constructor(node: NodeConnection, board: ProbeBoard, source: Pick<ClusterSource, 'kind'>, index: number) {
    this.#phase = index % CPU_EVERY
    this.node = node
    this.#board = board
    this.#queue = source.kind === 'LIVE' ? new ServerQueue() : undefined
    this.#measuresCpu = source.kind === 'LIVE'
  }

  /** Whether the server tells its CPU time, as far as is known. */
  get tellsCpu(): boolean {
    return this.#measuresCpu && this.#cpuFailures < CPU_TRIES
  }

  /**
   * Whether the cost of this run of a kind of reading is looked at closely: every twentieth run part by part, and another one as a
   * whole, because parts that are read by themselves cost more together.
   */
  lookAt(kind: string): 'parts' | 'whole' | undefined {
    const n = this.#runs.get(kind) ?? 0
    this.#runs.set(kind, n + 1)
    if (!this.#measuresCpu) return undefined
    if (n % CPU_EVERY === this.#phase) return 'parts'
    return n % CPU_EVERY === (this.#phase + WHOLE_AFTER) % CPU_EVERY ? 'whole' : undefined
  }

  /** Several commands that nothing comes between. */
  together<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue ? this.#queue.run(work) : work()
  }

  /** One command, within `together`. Failures: those of the node. */
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

  /** One command of one probe, in its turn, with its cost put down. Failures: those of the node. */
  async read(id: ProbeId, command: string): Promise<Result<ExecResult>> {
    return this.together(async () => {
      const timed = await this.exec(command, this.lookAt(id) === 'parts')
      if (!timed.ok) return timed
      const { result, tookMs, cpuMs } = timed.value
      this.#board.book.add(id, result.stdout.length + result.stderr.length, tookMs)
      if (cpuMs !== undefined) this.#board.book.addCpu(id, cpuMs)
      return ok(result)
    })
  }

  async #cpu(): Promise<ShellCpu | undefined> {
    // The reading itself tells whether the server answers; a look at its cost has no say in it.
    const ran = await this.node.exec(READ_SHELL_CPU)
    return ran.ok && ran.value.code === 0 ? parseShellCpu(ran.value.stdout) : undefined
  }
}
