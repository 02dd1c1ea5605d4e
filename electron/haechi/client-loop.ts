/**
 * A client's thread: a QosEngine driven by events, over real memory. Its port consists of FAA on POOL, WRITE into its report slot,
 * and copies of records; the completion queue is polled for `completionBatch` I/Os at a time. A bare client is the same loop
 * without tokens.
 *
 * It checks its doorbell and the clock once per iteration, that is, every few I/Os; when idle it sleeps until something is due.
 */
import { randomStream } from '#core/base/random.ts'
import { invariant } from '#core/base/result.ts'
import { BareEngine } from '#core/haechi/bare-engine.ts'
import { usablePart } from '#core/haechi/claim.ts'
import type { ClientReport, ToEngine } from '#core/haechi/messages.ts'
import { epochNear } from '#core/haechi/pool-word.ts'
import { QosEngine, type EnginePort } from '#core/haechi/qos-engine.ts'
import { RECORD_BYTES, RecordAccess, RecordStore } from '#core/haechi/workloads/records.ts'
import { RequestSource } from '#core/haechi/workloads/request-source.ts'
import type { ClientCounters } from './client-counters.ts'
import { clockSince, threadCpuNs, type Clock } from './clock.ts'
import type { Mailbox } from './mailbox.ts'
import type { ClientLog, ClientTask, FromClient } from './messages.ts'
import type { ClientAccess, NodeMemory } from './node-memory.ts'

/** Last 32-bit word of a record. */
const LAST_WORD = RECORD_BYTES / 4 - 1

/**
 * Data path of a real client: READs and WRITEs of 4 KB records, copied by one-sided verbs. Nothing else in a client's thread
 * accesses a record, and nothing here wakes the data node.
 */
class RecordPath {
  readonly #access: ClientAccess
  readonly #records: RecordAccess
  readonly #writer: number
  readonly #into = new Uint8Array(RECORD_BYTES)
  readonly #from = new Uint8Array(RECORD_BYTES)
  readonly #read = new Uint32Array(this.#into.buffer)
  readonly #written = new Uint32Array(this.#from.buffer)
  copied = 0
  torn = 0

  /** @param writer  > 0: id stored in every record it writes. */
  constructor(access: ClientAccess, records: RecordAccess, writer: number) {
    this.#access = access
    this.#records = records
    this.#writer = writer
  }

  /** Performs one I/O. */
  copy(): void {
    const { memory, records: key } = this.#access
    const { updates } = this.#records
    const at = this.#records.next() * RECORD_BYTES
    this.copied++
    if (this.#records.updates === updates) {
      invariant(memory.read(key, at, this.#into).ok, 'a client reads records of its node')
      const words = this.#read
      if (words[0] !== words[LAST_WORD - 1] || words[1] !== words[LAST_WORD]) this.torn++
      return
    }
    // Writer and sequence are stored at both ends, so that a READ can tell if it saw a single WRITE.
    const words = this.#written
    words[0] = words[LAST_WORD - 1] = this.#writer
    words[1] = words[LAST_WORD] = this.#records.updates >>> 0
    invariant(memory.write(key, at, this.#from).ok, 'a client writes records of its node')
  }
}

/** Shortest interval between updates of the counters, ns. */
const PUBLISH_NS = 1_000_000

export class ClientLoop implements EnginePort {
  readonly #task: ClientTask
  readonly #access: ClientAccess
  readonly #send: (message: FromClient) => void
  readonly #mailbox: Mailbox
  readonly #counters: ClientCounters
  readonly #clock: Clock
  readonly #records: RecordAccess
  readonly #path: RecordPath
  /** null on a bare node. */
  readonly #qos: QosEngine | null
  readonly #engine: QosEngine | BareEngine
  #source: RequestSource
  /** I/Os posted and not copied yet; `#faaTake` is the pending FAA's amount, 0 for none. */
  #posted = 0
  #faaTake = 0
  #granted = 0
  /** Global tokens by the epoch they were granted in: the current one, and any that overtook a T1. */
  readonly #grants = new Map<number, number>()
  #mark = 0
  #publishAt = 0
  #isPaused = false

  constructor(task: ClientTask, node: NodeMemory, access: ClientAccess, send: (message: FromClient) => void) {
    this.#task = task
    this.#access = access
    this.#send = send
    this.#mailbox = node.mailbox(task.slot)
    this.#counters = node.counters(task.slot)
    this.#clock = clockSince(task.origin)
    const random = randomStream(task.seed, `client/${task.slot}/records`)
    this.#records = new RecordAccess(new RecordStore(task.records), task.mix, random)
    this.#path = new RecordPath(access, this.#records, task.slot + 1)
    this.#qos = task.hasQos ? new QosEngine(task.settings, this, undefined, task.localTokens) : null
    this.#engine = this.#qos ?? new BareEngine(task.settings.window, (n) => this.postIo(n))
    this.#source = this.#newSource({ kind: 'idle' })
  }

  postIo(n: number): void {
    this.#posted += n
  }

  faa(take: number): void {
    this.#faaTake = take
  }

  writeReport(report: ClientReport): void {
    invariant(this.#access.tokens.report(this.#access.keys, report).ok, 'a client holds the key of its slot')
  }

  /** Runs until it is ordered to leave or to stop. */
  run(): void {
    const engine = this.#engine
    const { completionBatch } = this.#task
    this.#send({ kind: 'ready' })
    if (this.#qos === null) this.#source = this.#newSource()
    let heard = this.#mailbox.bell - 1
    for (;;) {
      const bell = this.#mailbox.bell
      const now = this.#clock()
      if (bell !== heard) {
        heard = bell
        if (!this.#listen(now)) return
      }
      if (this.#isPaused) {
        this.#mailbox.wait(heard, Infinity)
        continue
      }
      this.#wake(now)
      if (this.#faaTake > 0) this.#takeTokens(now)
      if (this.#posted > 0) {
        const n = this.#posted < completionBatch ? this.#posted : completionBatch
        this.#posted -= n
        for (let i = 0; i < n; i++) this.#path.copy()
        engine.onCompletion(n)
      } else if (this.#faaTake === 0) this.#sleep(now, heard)
    }
  }

  /** Handles requests and timers that are due. */
  #wake(now: number): void {
    while (this.#source.nextAt <= now) {
      const n = this.#source.take()
      if (this.#source.drops) this.#engine.dropQueue()
      this.#engine.onRequest(n)
    }
    if (this.#qos !== null && this.#qos.wakeAt <= now) this.#qos.onWake(now)
    if (now >= this.#publishAt) this.#publish(now)
  }

  #sleep(now: number, heard: number): void {
    this.#publish(now)
    const due = Math.min(this.#source.nextAt, this.#qos?.wakeAt ?? Infinity)
    if (due > now) this.#mailbox.wait(heard, due - now)
  }

  /** FAA and its answer: within one machine both happen at once. */
  #takeTokens(now: number): void {
    const take = this.#faaTake
    this.#faaTake = 0
    const qos = this.#qos
    const pool = this.#access.tokens.take(this.#access.keys, take)
    invariant(pool.ok && qos !== null, 'an engine asks for no more than a batch')
    const epoch = epochNear(pool.value.epoch, qos.epoch)
    const tokens = usablePart(pool.value.tokens, take)
    if (tokens > 0) {
      this.#granted += tokens
      const inEpoch = (this.#grants.get(epoch) ?? 0) + tokens
      this.#grants.set(epoch, inEpoch)
      this.#counters.publishGrant(this.#granted, epoch, inEpoch)
    }
    qos.onFaaReply(now, pool.value.tokens, take, epoch)
  }

  /** Handles messages, orders and measurements; false at the end. */
  #listen(now: number): boolean {
    for (let m = this.#mailbox.receive(); m !== null; m = this.#mailbox.receive()) this.#receive(now, m)
    const { mark, order } = this.#mailbox
    if (mark !== this.#mark) {
      this.#mark = mark
      this.#send({ kind: 'mark', mark, at: { atNs: now, cpuNs: threadCpuNs(), completed: this.#completed } })
    }
    this.#isPaused = order === 'pause'
    if (order === 'run' || order === 'pause') return true
    this.#end(now, order === 'leave')
    return false
  }

  #receive(now: number, message: ToEngine): void {
    const qos = this.#qos
    if (qos === null) return
    if (message.kind === 'start-report') qos.onStartReport(message)
    else {
      const isFirst = qos.epoch === 0
      if (!isFirst) this.#reportPeriod(qos)
      qos.onPeriodStart(now, message)
      // Burst periods are those of the node, starting with the first one that this client sees.
      if (isFirst) this.#source = this.#newSource(this.#task.workload, now)
    }
  }

  #reportPeriod(qos: QosEngine): void {
    const { epoch, reservation, limit, completed, issued, yielded } = qos
    const granted = this.#grants.get(epoch) ?? 0
    this.#grants.delete(epoch)
    const log: ClientLog = {
      client: this.#task.slot,
      epoch,
      reservation,
      limit,
      completed,
      issued,
      yielded,
      granted,
      ledger: {
        ...qos.totals,
        reservationTokens: qos.reservationTokens,
        globalTokens: qos.globalTokens,
        inflight: qos.inflight,
        copied: this.#path.copied,
      },
    }
    this.#send({ kind: 'period', log })
  }

  #end(now: number, leaves: boolean): void {
    if (leaves && this.#qos !== null) this.#qos.leave()
    else this.#engine.dropQueue()
    // I/Os that have their token are completed.
    for (; this.#posted > 0; this.#posted--) {
      this.#path.copy()
      this.#engine.onCompletion(1)
    }
    if (this.#qos !== null && this.#qos.epoch > 0) this.#reportPeriod(this.#qos)
    this.#publish(now)
    const { reads, updates } = this.#records
    const { torn, copied } = this.#path
    this.#send({ kind: 'ended', end: { reads, updates, torn, copied, verbs: this.#access.memory.counters } })
  }

  get #completed(): number {
    return this.#qos === null ? this.#engine.completed : this.#qos.totals.completed
  }

  #publish(now: number): void {
    const { copied } = this.#path
    const used = this.#qos === null ? 0 : this.#qos.totals.usedReservation + this.#qos.totals.usedGlobal
    this.#counters.publish(used, copied, this.#completed)
    this.#publishAt = now + PUBLISH_NS
  }

  #newSource(workload = this.#task.workload, now = this.#clock()): RequestSource {
    const random = randomStream(this.#task.seed, `client/${this.#task.slot}/requests`)
    const { periodNs } = this.#task.settings
    return new RequestSource(workload, random, { nowNs: now, periodNs, phaseNs: now })
  }
}
