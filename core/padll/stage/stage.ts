/**
 * A data-plane stage: what stands between one process (instance) of a job and the file system. Each POSIX call is looked up in
 * the call table, its path or descriptor among the mount points, its attributes among the channels; what an enforcement object
 * limits takes tokens or waits. Whatever the stage does not know it forwards: it never keeps a process from its work.
 *
 * Source: spec/padll 1. Deviations are named where they live: mount-points.ts, process-files.ts, differentiation.ts,
 * token-bucket.ts. Time is virtual: the host says what time it is and executes what it is told.
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
} from '../posix-calls.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import type { OperationType, Scope } from '../vocabulary.ts'
import { CallStatistics } from './call-statistics.ts'
import { contextsOf, type Mask, sizeClassOf, typesOf } from './differentiation.ts'
import type { EnforcementObject, Lot } from './enforcement-object.ts'
import type { Flow } from './flow.ts'
import { type ChannelOwner, Layout } from './layout.ts'
import { MountPoints } from './mount-points.ts'
import { type Principal, Principals } from './principals.ts'
import { ProcessFiles, UNKNOWN } from './process-files.ts'
import { applyEffect, mountOfRequest } from './request-files.ts'
import {
  type CallResult,
  FORWARDED,
  type Forwarded,
  type Outcome,
  PASSED,
  type ReleaseHandler,
  type StageRequest,
} from './request.ts'

export interface StageOptions {
  readonly identity: StageIdentity
  /** Managed mount points; as texts only where they are known to be good, see MountPoints.of. */
  readonly mounts: MountPoints | readonly string[]
  /** Told of each lot of waiting operations that may go. May be called out of `advance`, `submit`, `command` and `collect`. */
  readonly onRelease?: ReleaseHandler
  /** Which calls are intercepted, by switch: every one (default), the public defaults (only `open`), or these. */
  readonly switches?: 'all' | 'upstream' | ReadonlySet<string>
  /** Number of workflows, 1..1024, 1 if absent: ids 1000, 2000, … */
  readonly workflows?: number
  /** Attributes that all channels are told apart by, exactly, as upstream has them; absent: see differentiation.ts. */
  readonly mask?: Mask
  /** Mounts by substring, contexts and types exactly as the call table has them, buckets that spend whole. Default false. */
  readonly strictUpstream?: boolean
  /** Buckets that drift, see token-bucket.ts. Default false. */
  readonly driftCompat?: boolean
  /** Working directory of the process at first, `/` if absent. */
  readonly cwd?: string
}

/** What one operation type of one job went through since the stage began. */
export interface WaitsOfOperation {
  readonly job: string
  readonly operation: OperationType
  /** Managed operations that came, and of those let go after a wait. */
  readonly arrived: number
  readonly waited: number
  /** Sum and maximum of their waits. */
  readonly waitNs: number
  readonly longestNs: number
}

/** Linux moves no more in one call, whatever is asked for. */
const CALL_BYTES_MAX = 0x7fff_f000
const WORKFLOWS_MAX = 1024
const WORKFLOW_STEP = 1000
/** Most operations that one submission may stand for. */
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
  /** Types and contexts are matched as the call table has them. */
  readonly #exact: boolean
  /** Switches by index of the call: plain, and with a mode argument. */
  readonly #on: readonly boolean[]
  readonly #onWithMode: readonly boolean[]
  readonly #workflows: number
  readonly #random: () => number
  readonly #principals: Principals
  readonly #layout: Layout
  /** Objects for which somebody waits. */
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

  /** One request's whole path. Nothing is allocated unless operations must wait. Unusable counts are taken as 1. */
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

  /** What came of an executed call, also of a forwarded one: keeps descriptors and error counts right. */
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
   * Lets go what may go by `nowNs`, through `onRelease`, each with its exact instant however coarse the steps are. A handler that
   * submits again at that instant is served in order of time in its own channel; across channels only if steps are fine.
   */
  advance(nowNs: number): void {
    for (const object of this.#busy) {
      object.advance(nowNs)
      if (object.isIdle) this.#busy.delete(object)
    }
  }

  /** Next instant at which a waiting operation can go; Infinity when nothing waits. */
  get nextReleaseNs(): number {
    let next = Infinity
    for (const object of this.#busy) next = Math.min(next, object.wakeAtNs)
    return next
  }

  /** Before it is ready a stage forwards everything. */
  markReady(): void {
    this.#isReady = true
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /**
   * Lays out a channel or an object. `owner`: what the channel is for besides what rules can say.
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
    return fail({ code: 'E_CHANNEL', what: `there is no object ${command.object} of channel ${command.channel}` })
  }

  /** What there is to limit, in order of creation. */
  get channels(): { readonly channel: number; readonly object: number; readonly scope: Scope }[] {
    return this.#layout.objects.map(({ channel, object, scope }) => ({ channel, object, scope }))
  }

  /** Rate (op/s, byte/s for data) and refill period of an object as they are now; null for noop or where there is none. */
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

  /** Forgets waiting operations: their process has died. Returns how many there were. */
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
