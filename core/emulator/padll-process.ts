/**
 * Process of a job under PADLL: its operations become POSIX calls that pass its stage before they travel as RPCs.
 *
 * Calls that no stage intercepts (readdir, chmod and the like: spec/padll 1.1) pass through unchanged. A close needs a
 * descriptor: it waits for the reply to the next open, as a program would.
 */
import type { StageRequest } from '../padll/stage/request.ts'
import type { EmulatedStage, StageMember } from './padll-stage.ts'
import { Ring } from '../base/ring.ts'
import { isData, type Operation } from './operations.ts'
import type { JobScenario } from './scenario.ts'

/** Puts process `number` of a job behind its stage; returns undefined if the job has no stages. */
export type Intercept = (job: JobScenario, number: number, process: StageMember) => StagedProcess | undefined

type Call = Pick<StageRequest, 'call' | 'creates'>

/** POSIX call of an operation; undefined where no stage intercepts it. */
const CALLS: Readonly<Record<Operation, Call | undefined>> = {
  read: { call: 'read' },
  write: { call: 'write' },
  open: { call: 'open' },
  create: { call: 'open', creates: true },
  close: { call: 'close' },
  stat: { call: 'stat' },
  setattr: undefined,
  getxattr: { call: 'getxattr' },
  mkdir: { call: 'mkdir' },
  rmdir: { call: 'rmdir' },
  unlink: { call: 'unlink' },
  rename: { call: 'rename' },
  readdir: undefined,
  statfs: { call: 'statfs' },
  sync: { call: 'sync' },
}

const opens = (op: Operation): boolean => op === 'open' || op === 'create'

export class StagedProcess implements StageMember {
  readonly #stage: EmulatedStage
  readonly #handle: StageMember
  readonly #path: string
  /** True if its descriptors matter: it closes files, or reads and writes them. */
  readonly #tracksFiles: boolean
  readonly #requests = new Map<Operation, StageRequest>()
  #open = new Ring<number>()
  /** Closes that wait for the reply to the next open. */
  #closing = new Ring<() => void>()
  #file: number | undefined
  #isHere = false

  constructor(stage: EmulatedStage, job: JobScenario, path: string, handle: StageMember) {
    this.#stage = stage
    this.#handle = handle
    this.#path = path
    this.#tracksFiles = job.op.includes('close')
    for (const op of job.op) {
      const call = CALLS[op]
      if (call) this.#requests.set(op, { ...call, path, ...(op === 'rename' ? { newPath: `${path}.1` } : {}) })
    }
  }

  /** Starts the process; the stage connects with its first process. */
  begin(): void {
    if (this.#isHere) return
    this.#isHere = true
    this.#stage.enter(this)
  }

  /** Ends the process; the stage disconnects with its last process. */
  end(): void {
    if (!this.#isHere) return
    this.#isHere = false
    this.#forgetFiles()
    this.#stage.leave(this)
  }

  /** Ends with its killed stage, without closing files. */
  kill(): void {
    this.#isHere = false
    this.#open = new Ring<number>()
    this.#closing = new Ring<() => void>()
    this.#file = undefined
    this.#handle.kill()
  }

  /** Restarts after a kill. */
  start(): void {
    this.#handle.start()
  }

  /** Runs `go` when the stage releases the operation. */
  pass(op: Operation, bytes: number, go: () => void): void {
    const request = this.#requests.get(op)
    if (!request) return go()
    if (isData(op)) return this.#stage.submit({ ...request, fd: this.#dataFile(), size: bytes }, go)
    if (op !== 'close' || !this.#tracksFiles) return this.#stage.submit(request, go)
    const fd = this.#open.shift()
    if (fd === undefined) this.#closing.push(go)
    else this.#close(fd, go)
  }

  /** Handles the reply to an operation. */
  answered(op: Operation): void {
    if (!opens(op) || !this.#tracksFiles) return
    const request = this.#requests.get(op)
    if (!request) return
    const fd = this.#stage.openFile(request)
    const close = this.#closing.shift()
    if (close) this.#close(fd, close)
    else this.#open.push(fd)
  }

  #close(fd: number, go: () => void): void {
    const request: StageRequest = { call: 'close', fd }
    this.#stage.submit(request, () => {
      this.#stage.closeFile(request, fd)
      go()
    })
  }

  /** Descriptor of the one file for reads and writes, opened on first use; that open is not counted. */
  #dataFile(): number {
    this.#file ??= this.#stage.openFile({ call: 'open', path: this.#path })
    return this.#file
  }

  #forgetFiles(): void {
    const open = this.#file === undefined ? [] : [this.#file]
    for (let fd = this.#open.shift(); fd !== undefined; fd = this.#open.shift()) open.push(fd)
    for (const fd of open) this.#stage.closeFile({ call: 'close', fd }, fd)
    this.#file = undefined
    this.#closing = new Ring<() => void>()
  }
}
