/**
 * Data-plane stage between one process (instance) of a job and the file system. Each POSIX call is looked up in the
 * call table, its path or descriptor among the mount points, its attributes among the channels; limited calls take
 * tokens or wait. The stage forwards everything that it does not know: it never blocks a process.
 *
 * Source: spec/padll 1. Deviations: see mount-points.ts, process-files.ts, differentiation.ts, token-bucket.ts. Time is
 * virtual: the host passes the time and executes the calls that are released.
 */
import { randomStream } from '../../base/random.ts'
import { fail, invariant, type Result } from '../../base/result.ts'
import type { ChannelCounts, ObjectCommand, StageIdentity } from '../control/messages.ts'
import {
  ALL_SWITCHES,
  modeSwitchOf,
  POSIX_CALLS,
  posixCall,
  type PosixCallRow,
  UPSTREAM_SWITCHES,
  CALL_CLASSES,
  type CallClass,
} from '../posix-calls.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import type { OperationType, Scope } from '../vocabulary.ts'
import { contextsOf, type Mask, sizeClassOf, typesOf } from './differentiation.ts'
import type { EnforcementObject, Lot, WaitCounts } from './enforcement-object.ts'
import { type ChannelOwner, Layout } from './layout.ts'
import { MountPoints, UNMANAGED } from './mount-points.ts'
import { ProcessFiles, UNKNOWN } from './process-files.ts'
import {
  type CallResult,
  FORWARDED,
  type Forwarded,
  type Outcome,
  PASSED,
  type ReleaseHandler,
  type StageRequest,
  BYPASS_REASONS,
  type BypassReason,
} from './request.ts'

/**
 * All requests of one call, workflow, size class, job and user. Their channel and object are cached until the layout of
 * the stage changes, so requests are not hashed.
 */
class Flow implements WaitCounts {
  readonly call: PosixCallRow
  readonly workflow: number
  readonly size: number
  readonly user: string
  readonly job: string
  /** Layout version of the cached lookup. */
  layout = -1
  /** Limiter; null: none, for the reason `bypass`. */
  object: EnforcementObject | null = null
  bypass: Forwarded = FORWARDED['no-channel']
  /** Operations that arrived. */
  arrived = 0
  /** Operations released after a wait. */
  waited = 0
  /** Sum of their waits. */
  waitNs = 0
  /** Longest of their waits. */
  longestNs = 0

  constructor(call: PosixCallRow, workflow: number, size: number, user: string, job: string) {
    this.call = call
    this.workflow = workflow
    this.size = size
    this.user = user
    this.job = job
  }
}

interface CallCounts {
  readonly calls: number
  readonly errors: number
  /** Intercepted calls on files that are not managed. */
  readonly bypassed: number
  readonly bytes: number
}

/**
 * Counters per call. As upstream, a stage has two tables: of processed calls, and of calls only passed through (switch
 * off, not ready). Source: spec/padll 1.1.
 */
class CallTable {
  // Counters by index of the call.
  readonly #calls = new Float64Array(POSIX_CALLS.length)
  readonly #errors = new Float64Array(POSIX_CALLS.length)
  readonly #bypassed = new Float64Array(POSIX_CALLS.length)
  readonly #bytes = new Float64Array(POSIX_CALLS.length)

  add(index: number, count: number): void {
    this.#calls[index] = (this.#calls[index] as number) + count
  }

  addBytes(index: number, bytes: number): void {
    this.#bytes[index] = (this.#bytes[index] as number) + bytes
  }

  addErrors(index: number, count: number): void {
    this.#errors[index] = (this.#errors[index] as number) + count
  }

  addBypassed(index: number, count: number): void {
    this.#bypassed[index] = (this.#bypassed[index] as number) + count
  }

  of(call: PosixCallRow): CallCounts {
    return this.#sum([call])
  }

  ofClass(klass: CallClass): CallCounts {
    return this.#sum(POSIX_CALLS.filter((call) => call.klass === klass))
  }

  #sum(of: readonly PosixCallRow[]): CallCounts {
    const sum = (all: Float64Array): number => of.reduce((s, call) => s + (all[call.index] as number), 0)
    return {
      calls: sum(this.#calls),
      errors: sum(this.#errors),
      bypassed: sum(this.#bypassed),
      bytes: sum(this.#bytes),
    }
  }
}

class CallStatistics {
  readonly intercepted = new CallTable()
  readonly passedThrough = new CallTable()
  readonly #byReason = new Float64Array(BYPASS_REASONS.length)

  addForwarded(forwarded: Forwarded, count: number): void {
    this.#byReason[forwarded.index] = (this.#byReason[forwarded.index] as number) + count
  }

  /** Operations forwarded for this reason. */
  forwarded(reason: BypassReason): number {
    return this.#byReason[FORWARDED[reason].index] as number
  }
}

const COLUMNS = ['calls', 'errors', 'bypassed', 'bytes'] as const

/** Formats one of the two reports: classes with their sums, and below each its calls with a count. */
export function formatCallTable(table: CallTable, title: string): string {
  const line = (name: string, counts: CallCounts): string =>
    name.padEnd(16) + COLUMNS.map((column) => String(counts[column]).padStart(16)).join('')
  const lines = [title, ''.padEnd(16) + COLUMNS.map((column) => column.padStart(16)).join('')]
  for (const klass of CALL_CLASSES) {
    lines.push(line(klass, table.ofClass(klass)))
    for (const call of POSIX_CALLS) {
      if (call.klass === klass && table.of(call).calls > 0) lines.push(line(`  ${call.name}`, table.of(call)))
    }
  }
  return `${lines.join('\n')}\n`
}

const pathMount = (
  path: string | undefined,
  dirfd: number | undefined,
  files: ProcessFiles,
  mounts: MountPoints,
): number => (path === undefined ? UNMANAGED : files.mountOfPath(path, dirfd, mounts))

/**
 * Mount point of a request: its index, UNMANAGED, or UNKNOWN for an unopened descriptor and for calls without a file. A
 * rename is under either of its paths; upstream (`mounts.substring`) checks only the new one, so that files moved away
 * escape. Source: spec/padll 1.2.
 */
function mountOfRequest(call: PosixCallRow, request: StageRequest, files: ProcessFiles, mounts: MountPoints): number {
  switch (call.locate) {
    case 'path':
      return pathMount(request.path, request.dirfd, files, mounts)
    case 'fd':
      return request.fd === undefined ? UNKNOWN : files.mountOfFd(request.fd)
    case 'file':
      return request.file === undefined ? UNKNOWN : files.mountOfFile(request.file)
    case 'new-path': {
      const to = pathMount(request.newPath, request.newDirfd, files, mounts)
      return to >= 0 || mounts.substring ? to : pathMount(request.path, request.dirfd, files, mounts)
    }
    case 'none':
      return UNKNOWN
  }
}

/** Number that is not a descriptor: default for an absent one. */
const NONE = -1

/** Applies an executed call's opens, copies and closes to the descriptors `files`. Source: spec/padll 1.2. */
function applyEffect(
  call: PosixCallRow,
  request: StageRequest,
  result: CallResult,
  files: ProcessFiles,
  mounts: MountPoints,
): void {
  const { fd = NONE, newFd, path, dirfd } = request
  // Linux releases a descriptor even if close reports an error.
  if (call.effect === 'close') return files.closed(fd)
  if (call.effect === 'fclose') return files.closedFile(request.file ?? NONE)
  if (result.failed === true) return
  switch (call.effect) {
    case 'open':
      return files.opened(result.fd ?? NONE, path, dirfd, pathMount(path, dirfd, files, mounts))
    case 'fopen':
      if (result.file === undefined) return
      return files.openedFile(result.file, result.fd, path, pathMount(path, dirfd, files, mounts))
    case 'dup':
      return files.duplicated(fd, result.fd ?? newFd ?? NONE)
    case 'fcntl':
      return request.duplicates === true ? files.duplicated(fd, result.fd ?? NONE) : undefined
    case 'close-range':
      return files.closedRange(fd, newFd ?? Infinity)
    case 'chdir':
      return path === undefined ? undefined : files.chdir(path)
    case 'fchdir':
      return files.fchdir(fd)
    case 'none':
      return undefined
  }
}

export const PRINCIPALS_MAX = 10_000
const CALLS = POSIX_CALLS.length

/** A pair of job and user, with its flows. */
class Principal {
  readonly job: string
  readonly user: string
  readonly #workflows: number
  readonly #flows: (Flow | undefined)[] = []

  constructor(job: string, user: string, workflows: number) {
    this.job = job
    this.user = user
    this.#workflows = workflows
  }

  /**
   * @param workflow  index of the workflow.
   * @param size      size class.
   */
  flow(call: PosixCallRow, workflow: number, size: number): Flow {
    const at = (size * this.#workflows + workflow) * CALLS + call.index
    return this.#flows[at] ?? this.#newFlow(at, call, workflow, size)
  }

  get flows(): Flow[] {
    return this.#flows.filter((flow) => flow !== undefined)
  }

  #newFlow(at: number, call: PosixCallRow, workflow: number, size: number): Flow {
    while (this.#flows.length < at) this.#flows.push(undefined)
    return (this.#flows[at] = new Flow(call, workflow, size, this.user, this.job))
  }
}

/**
 * Principals whose requests a stage has seen. Usually there is one, the stage's own. The first PRINCIPALS_MAX are
 * cached; further ones are distinguished, too, but created for each request and not reported.
 */
class Principals {
  readonly own: Principal
  readonly #workflows: number
  readonly #byJob = new Map<string, Map<string, Principal>>()
  #size = 1

  constructor(job: string, user: string, workflows: number) {
    this.#workflows = workflows
    this.own = new Principal(job, user, workflows)
    this.#byJob.set(job, new Map([[user, this.own]]))
  }

  of(job: string = this.own.job, user: string = this.own.user): Principal {
    const known = this.#byJob.get(job)?.get(user)
    if (known !== undefined) return known
    const principal = new Principal(job, user, this.#workflows)
    if (this.#size === PRINCIPALS_MAX) return principal
    const users = this.#byJob.get(job)
    if (users === undefined) this.#byJob.set(job, new Map([[user, principal]]))
    else users.set(user, principal)
    this.#size++
    return principal
  }

  get all(): Principal[] {
    return [...this.#byJob.values()].flatMap((users) => [...users.values()])
  }
}

export interface StageOptions {
  readonly identity: StageIdentity
  /** Managed mount points; as texts only if they are known to be valid, see MountPoints.of. */
  readonly mounts: MountPoints | readonly string[]
  /**
   * Called for each lot of waiting operations that may go, possibly from within `advance`, `submit`, `command` or
   * `collect`.
   */
  readonly onRelease?: ReleaseHandler
  /** Intercepted calls, by switch: all (default), the public defaults (only `open`), or these. */
  readonly switches?: 'all' | 'upstream' | ReadonlySet<string>
  /** Number of workflows, 1..1024, 1 if absent: ids 1000, 2000, … */
  readonly workflows?: number
  /** Attributes that distinguish all channels, matched exactly, as upstream; absent: see differentiation.ts. */
  readonly mask?: Mask
  /**
   * Mounts by substring, contexts and types exactly as in the call table, buckets that spend only whole tokens.
   * Default false.
   */
  readonly strictUpstream?: boolean
  /** Accumulates refill drift as upstream does, see token-bucket.ts. Default false. */
  readonly driftCompat?: boolean
  /** Initial working directory of the process, `/` if absent. */
  readonly cwd?: string
}

/** Totals of one operation type of one job since the stage started. */
export interface WaitsOfOperation {
  readonly job: string
  readonly operation: OperationType
  /** Managed operations that arrived. */
  readonly arrived: number
  /** Operations released after a wait. */
  readonly waited: number
  /** Sum of their waits. */
  readonly waitNs: number
  /** Longest of their waits. */
  readonly longestNs: number
}

/** Linux moves no more in one call, whatever the requested size. */
const CALL_BYTES_MAX = 0x7fff_f000
const WORKFLOWS_MAX = 1024
const WORKFLOW_STEP = 1000
/** Largest number of operations in one submission. */
const COUNT_MAX = 2 ** 40

const bytesOf = (size: number | undefined): number =>
  size !== undefined && size > 0 ? Math.min(Math.floor(size), CALL_BYTES_MAX) : 0

const switchesOf = (which: StageOptions['switches']): ReadonlySet<string> => {
  if (which === undefined || which === 'all') return new Set(ALL_SWITCHES)
  return which === 'upstream' ? new Set(UPSTREAM_SWITCHES) : which
}

export class Stage {
  readonly identity: StageIdentity
  /** Descriptors of the stage's own process. */
  readonly files: ProcessFiles
  readonly statistics = new CallStatistics()
  readonly #mounts: MountPoints
  /** Types and contexts match only as in the call table. */
  readonly #exact: boolean
  /** Switches by index of the call: plain, and with a mode argument. */
  readonly #on: readonly boolean[]
  readonly #onWithMode: readonly boolean[]
  readonly #workflows: number
  readonly #random: () => number
  readonly #principals: Principals
  readonly #layout: Layout
  /** Objects with waiting operations. */
  readonly #busy = new Set<EnforcementObject>()
  #isReady = false
  #ticket = 0

  constructor(options: StageOptions) {
    const { identity, mask, workflows = 1 } = options
    invariant(Number.isInteger(workflows) && workflows > 0 && workflows <= WORKFLOWS_MAX, 'there are 1..1024 workflows')
    this.identity = identity
    const strict = options.strictUpstream === true
    this.#exact = strict || mask !== undefined
    if (options.mounts instanceof MountPoints) this.#mounts = options.mounts
    else {
      const mounts = MountPoints.of(options.mounts, strict)
      invariant(mounts.ok, 'mount points given as texts are good')
      this.#mounts = mounts.value
    }
    const switches = switchesOf(options.switches)
    this.#on = POSIX_CALLS.map((call) => switches.has(call.name))
    this.#onWithMode = POSIX_CALLS.map((call) => switches.has(modeSwitchOf(call)))
    this.#workflows = workflows
    const random = randomStream(identity.pid, 'workflow')
    this.#random = () => random.below(workflows)
    this.#principals = new Principals(identity.job, identity.user, workflows)
    this.files = new ProcessFiles(options.cwd)
    const onRelease = options.onRelease
    const released = (lot: Lot, count: number, atNs: number): void => onRelease?.(lot.ticket, count, atNs)
    const bucket = { spend: strict ? 'whole' : 'partial', drift: options.driftCompat === true } as const
    this.#layout = new Layout(mask, bucket, released)
  }

  /** Processes one request. Allocates only if operations must wait. Invalid counts are taken as 1. */
  submit(request: StageRequest, nowNs: number): Outcome {
    const call = posixCall(request.call)
    const count = request.count === undefined ? 1 : usableCount(request.count)
    if (call === undefined) {
      return this.#forward(FORWARDED['unknown-call'], count)
    }
    if (!(request.creates === true ? this.#onWithMode : this.#on)[call.index]) {
      this.statistics.passedThrough.add(call.index, count)
      return this.#forward(FORWARDED['switched-off'], count)
    }
    const table = this.statistics.intercepted
    table.add(call.index, count)
    let cost = 1
    if (call.cost === 'bytes') {
      cost = bytesOf(request.size)
      table.addBytes(call.index, count * cost)
    }
    if (call.type === null) return this.#forward(FORWARDED['never-limited'], count)
    const mount = mountOfRequest(call, request, request.files ?? this.files, this.#mounts)
    if (mount < 0) {
      table.addBypassed(call.index, count)
      return this.#forward(FORWARDED[mount === UNKNOWN ? 'unknown-descriptor' : 'unmanaged-path'], count)
    }
    if (!this.#isReady) return this.#forward(FORWARDED['not-ready'], count)
    const flow = this.#flowOf(call, request)
    flow.arrived += count
    const object = flow.object
    if (object === null) return this.#forward(flow.bypass, count)
    return cost === 0 ? PASSED : this.#take(object, flow, count, cost, nowNs)
  }

  /** Records the result of an executed call, also of a forwarded one: keeps descriptors and error counts right. */
  done(request: StageRequest, result: CallResult): void {
    const call = posixCall(request.call)
    if (call === undefined) return
    if (result.failed === true) {
      const on = (request.creates === true ? this.#onWithMode : this.#on)[call.index] === true
      const { intercepted, passedThrough } = this.statistics
      ;(on ? intercepted : passedThrough).addErrors(call.index, usableCount(request.count ?? 1))
    }
    applyEffect(call, request, result, request.files ?? this.files, this.#mounts)
  }

  /**
   * Releases operations that can go by `nowNs`, through `onRelease`, each with its exact time however coarse the steps
   * are. A handler that submits again at that time is served in order of time in its own channel; across channels only
   * if steps are fine.
   */
  advance(nowNs: number): void {
    for (const object of this.#busy) {
      object.advance(nowNs)
      if (object.isIdle) this.#busy.delete(object)
    }
  }

  /** Next time at which a waiting operation can go; Infinity if none waits. */
  get nextReleaseNs(): number {
    let next = Infinity
    for (const object of this.#busy) next = Math.min(next, object.wakeAtNs)
    return next
  }

  /** Ends the initial state, in which a stage forwards everything. */
  markReady(): void {
    this.#isReady = true
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /**
   * Creates a channel or an object. `owner`: further selection of the channel that rules cannot express.
   *
   * @returns  E_DUPLICATE (id or conditions), E_CHANNEL (none such), E_RATE, E_REFILL, E_FULL; then nothing has changed.
   */
  housekeeping(rule: HousekeepingRule, nowNs: number, owner: ChannelOwner = {}): Result<void> {
    return this.#layout.apply(rule, nowNs, owner)
  }

  /**
   * Sets rate and/or refill period of one object. Rates under 1 op/s become 1; a noop object has neither.
   *
   * @returns  E_CHANNEL, E_RATE, E_REFILL; then nothing has changed.
   */
  command(command: ObjectCommand, nowNs: number): Result<void> {
    const object = this.#layout.object(command.channel, command.object)
    if (object !== undefined) return object.command(command, nowNs)
    return fail({ code: 'E_CHANNEL', what: `channel ${command.channel} has no object ${command.object}` })
  }

  /** Channels and their objects, in order of creation. */
  get channels(): { readonly channel: number; readonly object: number; readonly scope: Scope }[] {
    return this.#layout.objects.map(({ channel, object, scope }) => ({ channel, object, scope }))
  }

  /** Current rate (op/s, byte/s for data) and refill period of an object; null for noop or an unknown object. */
  limitOf(channel: number, object: number): { readonly rate: number; readonly refillNs: number } | null {
    const bucket = this.#layout.object(channel, object)?.bucket ?? null
    return bucket && { rate: bucket.rate, refillNs: bucket.periodNs }
  }

  /** Counts since the last collection, in tokens: operations, and bytes for data calls. Begins the next window. */
  collect(nowNs: number): ChannelCounts[] {
    this.advance(nowNs)
    return this.#layout.objects.map((object) => object.collect())
  }

  /** Queue wait per job and operation type. */
  waits(): WaitsOfOperation[] {
    const rows: WaitsOfOperation[] = []
    for (const { job, flows } of this.#principals.all) {
      for (const operation of new Set(flows.map((flow) => flow.call.type))) {
        const of = flows.filter((flow) => flow.call.type === operation)
        const sum = (key: 'arrived' | 'waited' | 'waitNs'): number => of.reduce((s, flow) => s + flow[key], 0)
        const longestNs = Math.max(...of.map((flow) => flow.longestNs))
        if (operation === null) continue
        rows.push({ job, operation, arrived: sum('arrived'), waited: sum('waited'), waitNs: sum('waitNs'), longestNs })
      }
    }
    return rows
  }

  /** Drops waiting operations: their process has died. Returns their number. */
  drop(): number {
    let n = 0
    for (const object of this.#busy) n += object.drop()
    this.#busy.clear()
    return n
  }

  #forward(forwarded: Forwarded, count: number): Outcome {
    this.statistics.addForwarded(forwarded, count)
    return forwarded
  }

  #principalOf(request: StageRequest): Principal {
    const { job, user } = request
    return job === undefined && user === undefined ? this.#principals.own : this.#principals.of(job, user)
  }

  #flowOf(call: PosixCallRow, request: StageRequest): Flow {
    let workflow = 0
    if (this.#workflows > 1) {
      const id = request.workflow === undefined ? 0 : request.workflow
      workflow = ((id / WORKFLOW_STEP) | 0) - 1
      if (workflow < 0 || workflow >= this.#workflows || (workflow + 1) * WORKFLOW_STEP !== id)
        workflow = this.#random()
    }
    const size = this.#layout.usesSize && call.cost === 'bytes' ? sizeClassOf(request.size ?? 0) : 0
    const flow = this.#principalOf(request).flow(call, workflow, size)
    if (flow.layout !== this.#layout.version) this.#lookUp(flow)
    return flow
  }

  #lookUp(flow: Flow): void {
    const found = this.#layout.find({
      workflow: (flow.workflow + 1) * WORKFLOW_STEP,
      types: typesOf(flow.call, this.#exact),
      contexts: contextsOf(flow.call, this.#exact),
      size: flow.size,
      user: flow.user,
      job: flow.job,
    })
    flow.layout = this.#layout.version
    if (typeof found === 'string') {
      flow.object = null
      flow.bypass = FORWARDED[found]
    } else flow.object = found
  }

  #take(object: EnforcementObject, flow: Flow, count: number, cost: number, nowNs: number): Outcome {
    if (!object.isIdle) object.advance(nowNs)
    const passed = object.arrive(nowNs, count, cost)
    if (passed === count) return PASSED
    const ticket = ++this.#ticket
    const waiting = count - passed
    object.wait({ ticket, flow, cost, arrivedNs: nowNs, count: waiting, paid: 0 })
    if (!object.isIdle) this.#busy.add(object)
    return { kind: 'waits', ticket, passed, waiting }
  }
}

const usableCount = (count: number): number =>
  count >= 1 && count <= COUNT_MAX ? Math.floor(count) : count > COUNT_MAX ? COUNT_MAX : 1
