/**
 * Daemon of a data node: its clients by name, admission, the record of its periods, and the control socket that `sluice haechi …`
 * and the console use. The work is done by its backend.
 */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { admissionRefusal } from '#core/haechi/admission.ts'
import { HAECHI_DEADLINE, HAECHI_EVIDENCE, type Advance } from '#core/controllers/advances.ts'
import { estimatorRule } from '#core/haechi/capacity-estimate.ts'
import { fail, formatFailure, ok, type Failure, type Result } from '#core/base/result.ts'
import { NS_PER_S } from '#core/base/units.ts'
import { answerNode, printWorkload, type ConsoleNode, type NewClient } from '#core/haechi/console.ts'
import { checkProfile, checkReservation, checkSettings, checkTokens, profiledTokens } from '#core/haechi/settings.ts'
import type { CapacityProfile, HaechiSettings } from '#core/haechi/settings.ts'
import type { HaechiStatus, StatusClient, StatusEvent, StatusPeriod, StatusSample } from '#core/haechi/status.ts'
import { serveCommand } from '../wire/control-channel.ts'
import { listenAuthenticated, type Listening } from '../wire/listen.ts'
import type { BackendEvents, BackendOptions, LastCounts, NodeBackend, NodeCounters } from './backend.ts'
import { ProcessNode } from './process-node.ts'
import { ThreadNode } from './thread-node.ts'
import { TokenAudit, type JudgedPeriod } from './token-audit.ts'

/** Periods and samples that a status can contain. */
const PERIODS_MAX = 120
const SAMPLES_MAX = 2400
const EVENTS_MAX = 200
const VIOLATIONS_MAX = 20
/** Clients that have left and are still reported. */
const GONE_MAX = 100
const COMMANDS_MAX = 16
const SAMPLE_NS = 50_000_000

export interface DaemonOptions {
  readonly name: string
  readonly controlSocket: string
  /** Helper of processes; undefined with the reason for threads. */
  readonly helper: string | undefined
  readonly why: string
  readonly settings: HaechiSettings
  readonly profile: CapacityProfile
  readonly profiled: Omit<HaechiStatus['profile'], keyof CapacityProfile>
  readonly slots: number
  readonly records: number
  readonly seed: number
  readonly completionBatch: number
  readonly clients: readonly NewClient[]
  readonly log: (text: string) => void
  /** The node ended, or can no longer be reached; nothing is left running. */
  readonly onEnd: (failure: Failure | undefined) => void
}

interface Client extends StatusClient {
  reservation: number
  limit: number | null
  state: StatusClient['state']
}

/** Advance that the settings choose; undefined for the rules of the paper. */
function advanceOf({ conversion, estimator }: HaechiSettings): Advance | undefined {
  if (conversion === 'deadline') return HAECHI_DEADLINE
  return estimator.rule === 'evidence' ? HAECHI_EVIDENCE : undefined
}

/** The helper of process nodes has the rules of the paper only, and a node has the same rules in threads. */
const notInNodes = ({ name, original }: Advance): Failure => ({
  code: 'ADVANCE_NOT_SUPPORTED',
  what: `A running data node does not support ${name}`,
  why: `it is implemented in the simulation only; nodes use: ${original}`,
  unaffected: 'No node was started.',
  next: `Start the node without ${name}, or try it in a scenario: sluice compare.`,
})

const NO_COUNTERS: NodeCounters = {
  timerWakes: 0,
  sendWakes: 0,
  dataWakes: 0,
  cpuNs: 0,
  dataIos: 0,
  overfull: 0,
  lostMessages: 0,
  droppedLines: 0,
}

const unknown = (client: string): Failure => ({ code: 'E_CLIENT', what: `There is no client called ${client}` })

export class HaechiDaemon implements ConsoleNode {
  readonly run = randomBytes(8).toString('hex')
  readonly #options: DaemonOptions
  readonly #audit: TokenAudit
  readonly #startedMs = Date.now()
  #backend: NodeBackend | undefined
  #listening: Listening | undefined
  #clients: Client[] = []
  readonly #periods: StatusPeriod[] = []
  readonly #samples: StatusSample[] = []
  readonly #events: StatusEvent[] = []
  readonly #violations: string[] = []
  #violationCount = 0
  #kills = { count: 0, lost: 0, unowned: 0 }
  #counters = NO_COUNTERS
  #races = 0
  #seq = 0
  #epoch = 0
  #omega: number
  #isOvercommitted = false
  /** Changes of clients, one at a time: admission holds when the change is made. */
  #turn: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #closing: Promise<void> | undefined

  private constructor(options: DaemonOptions) {
    this.#options = options
    this.#audit = new TokenAudit(options.settings)
    this.#omega = profiledTokens(options.profile, options.settings.periodNs)
  }

  /** Starts a node with its clients, then answers commands. Failures: those of settings, backend, admission and socket. */
  static async start(options: DaemonOptions): Promise<Result<HaechiDaemon>> {
    const settings = checkSettings(options.settings)
    if (!settings.ok) return settings
    const advance = advanceOf(options.settings)
    if (advance) return fail(notInNodes(advance))
    const profile = checkProfile(options.profile)
    if (!profile.ok) return profile
    const daemon = new HaechiDaemon(options)
    const started = await daemon.#start()
    if (started.ok) return ok(daemon)
    await daemon.close()
    return started
  }

  async #start(): Promise<Result<void>> {
    const { controlSocket, helper, settings, profile, slots, records, seed, completionBatch } = this.#options
    const listening = await listenAuthenticated(
      { path: controlSocket },
      {
        what: 'a data node',
        most: COMMANDS_MAX,
        peering: { purpose: 'sluice-haechi/1', secret: undefined },
        onSocket: (socket: Socket) => void serveCommand(socket, (args) => answerNode(args, this)),
        onLost: (why) => this.#end({ code: 'SOCKET_LOST', what: 'The node is no longer reachable', why }),
      },
    )
    if (!listening.ok) return listening
    this.#listening = listening.value
    const events = this.#backendEvents()
    const shape = { slots, records, seed, completionBatch, sampleNs: SAMPLE_NS }
    const options: BackendOptions = { settings, profile, ...shape, events }
    const backend = helper === undefined ? await ThreadNode.open(options) : await ProcessNode.open(helper, options)
    if (!backend.ok) return backend
    this.#backend = backend.value
    for (const client of this.#options.clients) {
      const added = await this.add(client)
      if (!added.ok) return added
    }
    return backend.value.start()
  }

  get #present(): readonly Client[] {
    return this.#clients.filter((c) => c.state === 'active')
  }

  #find(name: string): Client | undefined {
    return this.#present.find((c) => c.name === name)
  }

  /** Why a reservation and a limit are refused (Definition 2); a reservation that falls never is. */
  #refusal(client: Client | undefined, reservation: number, limit: number | null): Failure | undefined {
    const bad = checkReservation(reservation) ?? (limit === null ? null : checkTokens('The limit', limit))
    if (bad) return bad
    if (client && reservation <= client.reservation) return undefined
    const { settings, profile } = this.#options
    const admitted = this.#present.filter((c) => c !== client).map((c) => c.reservation)
    if (this.#isOvercommitted && reservation > 0) {
      const over = admitted.reduce((a, b) => a + b, client?.reservation ?? 0) - this.#omega
      const what = `A reservation of ${reservation} I/Os per period is refused`
      return { code: 'E_OVERCOMMITTED', what, why: `reservations exceed the current capacity by ${over} I/Os` }
    }
    const capacity = { globalIops: (this.#omega * NS_PER_S) / settings.periodNs, localIops: profile.localIops }
    const { periodNs, fluidAdmission: fluid } = settings
    return admissionRefusal({ admitted, reservation, capacity, periodNs, fluid }) ?? undefined
  }

  #inTurn<T>(act: () => Promise<Result<T>>): Promise<Result<T>> {
    const done = this.#turn.then(() =>
      this.#isClosed ? fail({ code: 'E_CLOSED', what: 'The node is being stopped' }) : act(),
    )
    this.#turn = done.catch(() => undefined)
    return done
  }

  add(c: NewClient): Promise<Result<void>> {
    return this.#inTurn(async () => {
      if (this.#find(c.name)) return fail({ code: 'E_CLIENT', what: `There is a client called ${c.name} already` })
      const refusal = this.#refusal(undefined, c.reservation, c.limit)
      if (refusal) return this.#refused(c.name, refusal)
      const joined = await this.#running.join(c)
      if (!joined.ok) return this.#refused(c.name, joined.error)
      this.#clients.push({
        client: joined.value.client,
        pid: joined.value.pid,
        name: c.name,
        job: c.job,
        state: 'active',
        workload: printWorkload(c.workload),
        isBacklogged: c.workload.kind === 'backlogged',
        reservation: c.reservation,
        limit: c.limit,
      })
      this.#event('client', c.name, 'admitted')
      this.#dropGone()
      return ok(undefined)
    })
  }

  remove(name: string): Promise<Result<void>> {
    return this.#inTurn(async () => {
      const client = this.#find(name)
      if (!client) return fail(unknown(name))
      const left = await this.#running.leave(client.client)
      if (!left.ok) return left
      client.state = 'left'
      this.#event('client', name, 'left')
      return ok(undefined)
    })
  }

  set(name: string, reservation: number | undefined, limit: number | null | undefined): Promise<Result<void>> {
    return this.#inTurn(async () => {
      const client = this.#find(name)
      if (!client) return fail(unknown(name))
      const next = {
        reservation: reservation ?? client.reservation,
        limit: limit === undefined ? client.limit : limit,
      }
      const refusal = this.#refusal(client, next.reservation, next.limit)
      if (refusal) return this.#refused(name, refusal)
      const reserved = await this.#running.reserve(client.client, next.reservation, next.limit)
      if (!reserved.ok) return reserved
      Object.assign(client, next)
      this.#event(
        'client',
        name,
        `reservation ${next.reservation}, limit ${next.limit ?? 'none'}, from the next period on`,
      )
      return ok(undefined)
    })
  }

  /** Stops after the answer was sent. */
  stop(): void {
    setImmediate(() => this.#end(undefined))
  }

  status(since: number): HaechiStatus {
    const { name, settings, profile, profiled, why } = this.#options
    const periods = this.#periods.filter((p) => p.epoch > since)
    // A first reading gets the samples of the last two periods only.
    const fromEpoch = since > 0 ? since : this.#epoch - 2
    const counters = this.#counters
    return {
      version: 1,
      node: name,
      run: this.run,
      backend: { kind: this.#backend?.kind ?? 'processes', why },
      atNs: Math.max(0, Math.round(this.#running.nowNs())),
      atMs: Date.now(),
      startedMs: this.#startedMs,
      epoch: this.#epoch,
      omega: this.#omega,
      isOvercommitted: this.#isOvercommitted,
      settings: {
        name: settings.name,
        periodNs: settings.periodNs,
        checkNs: settings.checkNs,
        batch: settings.batch,
        window: settings.window,
        decay: settings.decay,
        conversion: settings.conversion,
        alertAfter: settings.alertAfter,
        fluidAdmission: settings.fluidAdmission,
        omegaMin: estimatorRule(settings, profile).omegaMin,
      },
      profile: { ...profile, ...profiled },
      sampleNs: SAMPLE_NS,
      clients: this.#clients.map((c) => ({ ...c })),
      periods,
      samples: this.#samples.filter((s) => (s.n[1] ?? 0) > fromEpoch),
      events: [...this.#events],
      wakes: { timer: counters.timerWakes, send: counters.sendWakes, data: counters.dataWakes },
      cpuNs: counters.cpuNs,
      dataIos: counters.dataIos,
      casRaces: this.#races,
      violations: { count: this.#violationCount, latest: [...this.#violations] },
      kills: { ...this.#kills },
    }
  }

  close(): Promise<void> {
    this.#isClosed = true
    this.#closing ??= (async () => {
      await this.#listening?.close()
      await this.#backend?.close()
    })()
    return this.#closing
  }

  get #running(): NodeBackend {
    const backend = this.#backend
    if (!backend) throw new Error('a node is asked only after its start')
    return backend
  }

  #end(failure: Failure | undefined): void {
    if (this.#isClosed) return
    void this.close().then(() => this.#options.onEnd(failure))
  }

  #refused(client: string, failure: Failure): Result<never> {
    this.#event('refused', client, formatFailure(failure).slice(0, 500))
    return fail(failure)
  }

  #event(
    kind: StatusEvent['kind'],
    client: string,
    text: string,
    {
      at = this.#running.nowNs(),
      a = 0,
      b = 0,
      word = '',
    }: { at?: number; a?: number; b?: number; word?: string } = {},
  ): void {
    const told = { kind, client, epoch: this.#epoch, a, b, word, text: text.slice(0, 1000) }
    this.#events.push({ seq: ++this.#seq, at: Math.max(0, Math.round(at)), ...told })
    if (this.#events.length > EVENTS_MAX) this.#events.shift()
  }

  #dropGone(): void {
    const gone = this.#clients.filter((c) => c.state !== 'active')
    const dropped = new Set(gone.slice(0, Math.max(0, gone.length - GONE_MAX)))
    if (dropped.size > 0) this.#clients = this.#clients.filter((c) => !dropped.has(c))
  }

  #nameOf(client: number): string {
    return this.#clients.find((c) => c.client === client)?.name ?? ''
  }

  #backendEvents(): BackendEvents {
    return {
      begun: (at, epoch, pool) => {
        this.#epoch = epoch
        this.#event('period', '', '', { at, a: pool })
      },
      reportsStarted: (at) => this.#event('start-report', '', '', { at }),
      alert: (at, alert, client, what) => {
        if (alert === 'silent-client') this.#audit.silent(client)
        this.#event('alert', this.#nameOf(client), what, { at, word: alert })
      },
      period: (period, counters) => {
        this.#counters = counters
        this.#omega = period.nextOmega
        this.#races += period.casRaces
        const promised = this.#present.reduce((sum, c) => sum + c.reservation, 0)
        this.#isOvercommitted = promised > period.nextOmega
        this.#event('estimate', '', '', { at: period.endNs, a: period.used, b: period.nextOmega, word: period.action })
        for (const judged of this.#audit.period(period, counters)) this.#judged(judged)
      },
      log: (log) => {
        for (const judged of this.#audit.log(log)) this.#judged(judged)
      },
      sample: (sample) => {
        this.#samples.push(sample)
        if (this.#samples.length > SAMPLES_MAX) this.#samples.splice(0, SAMPLES_MAX / 2)
      },
      killed: (client, last) => this.#killed(client, last),
      failed: (failure) => this.#end(failure),
    }
  }

  #killed(client: number, last: LastCounts | undefined): void {
    const found = this.#clients.find((c) => c.client === client)
    if (found) found.state = 'killed'
    this.#kills.count++
    if (last) this.#audit.killed(this.#epoch, last)
    const held = last ? ` with ${last.xi} reservation and ${last.g} pool tokens` : ''
    this.#event(
      'client',
      found?.name ?? '',
      `its process ended${held}; its reservation is free from the next period on`,
    )
    this.#options.log(`client ${found?.name ?? client} ended unexpectedly`)
  }

  #judged({ period, logs, unowned, lost, violations }: JudgedPeriod): void {
    const { clients, poolChecks, ...figures } = period
    this.#kills.lost += lost
    this.#kills.unowned += unowned
    this.#violationCount += violations.length
    this.#violations.push(...violations.map((v) => v.slice(0, 1000)))
    this.#violations.splice(0, Math.max(0, this.#violations.length - VIOLATIONS_MAX))
    for (const violation of violations) this.#options.log(violation)
    const last = this.#samples.findLast((s) => s.n[1] === period.epoch)
    this.#periods.push({
      ...figures,
      poolChecks: poolChecks.map((v) => (Number.isNaN(v) ? null : v)),
      unowned,
      lost,
      clients: clients.map(({ client, reservation, completed, yielded }) => {
        const log = logs.get(client)
        const usedReserved = log
          ? Math.max(0, log.reservation - log.xi - log.yielded)
          : Math.min(completed, Math.max(0, reservation - yielded))
        const sample = last?.c.find((row) => row[0] === client)
        const [, xi = 0, g = 0, , , queued = 0] = sample ?? []
        const count = log?.completed ?? completed
        return {
          client,
          reservation,
          limit: log?.limit ?? null,
          completed: count,
          yielded: log?.yielded ?? yielded,
          usedReserved,
          usedPool: Math.max(0, (log?.issued ?? completed) - usedReserved),
          isStarved: sample !== undefined && queued > 0 && xi === 0 && g === 0,
        }
      }),
    })
    if (this.#periods.length > PERIODS_MAX) this.#periods.shift()
  }
}
