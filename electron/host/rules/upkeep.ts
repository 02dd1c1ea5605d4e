/**
 * Upkeep of rules between commits, once a second: reports expired rules; forgets the terms of removed rules; stops
 * rules bound to this console when they expire, and moves them to a timer on the server if possible; resolves unknown
 * outcomes, also after a restart; ends timers left over by such changes; sends undos to servers that answer again.
 */
import { randomBytes } from 'node:crypto'
import type { NodeEnd } from '#core/api/rule-edits.ts'
import { compareHeads } from '#core/control/read-back.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import type { NodeConnection } from '../../base/connection.ts'
import { placeOf, SERVICES } from '../../base/service.ts'
import { sendCommand } from '../../enforce/send-command.ts'
import { covers, makeTimerCommand, readTimers, verifyTimer } from '../../enforce/expiry.ts'
import { stopOf, type TimerSpec, type TimerStop } from '../../enforce/expiry-spec.ts'
import { endTimerUnits, readActiveRules, spotsOf } from '../../enforce/remove-rules.ts'
import { commitChange } from '../../enforce/change.ts'
import { ANSWER_MS, readServer, readVersion } from '../../enforce/read-server.ts'
import type { ChangeLog } from './change-log.ts'
import { ExpiryEvents } from './expiry-events.ts'
import type { OperatorRule, RulePlace } from './operator-rules.ts'
import { ruleUndoOf, type PastChange, type UnknownOutcome } from './past-change.ts'
import type { PendingUndo } from './pending-undo.ts'
import { isWork, planStaged, settleTerms } from './rule-plan.ts'
import type { Sending } from './sending.ts'

/** Interval of upkeep, on the source's clock. */
const LOOK_MS = 1_000
/** Interval of loading changes made by commands. */
const REFRESH_MS = 5_000
/** A reading from before the commit does not show its effect. */
const SETTLES_MS = 2_000
/** Time during which a command with an unknown outcome may still take effect; its timers stay until then. */
const MAY_ACT_MS = 30_000
/** Retry pause for a server after a failed request. */
const AGAIN_MS = 10_000
/** Shortest lifetime for which a timer is created on a server. */
const LEAST_S = 5

export class Upkeep {
  readonly #sending: Sending
  readonly #log: ChangeLog
  readonly #doneLate: (past: PastChange, host: string) => void
  readonly #expiries: ExpiryEvents
  #lookedMs = 0
  #refreshedMs = 0
  /** Next retry time of failed actions, by key. */
  readonly #againMs = new Map<string, number>()

  /** @param doneLate  called when a server of a change was found to be done after all. */
  constructor(sending: Sending, log: ChangeLog, doneLate: (past: PastChange, host: string) => void) {
    this.#sending = sending
    this.#log = log
    this.#doneLate = doneLate
    this.#expiries = new ExpiryEvents((mark) => sending.monitor.events.add(mark))
  }

  look(): void {
    const nowMs = this.#sending.monitor.nowMs()
    // A clock that was set back restarts the interval.
    if (nowMs >= this.#lookedMs && nowMs - this.#lookedMs < LOOK_MS) return
    this.#lookedMs = nowMs
    if (nowMs - this.#refreshedMs >= REFRESH_MS || nowMs < this.#refreshedMs) {
      this.#refreshedMs = nowMs
      this.#log.refresh()
    }
    this.#forgetGone(nowMs)
    for (const past of this.#log.all) this.#resolve(past, nowMs)
    if (this.#sending.isKeepingUp || this.#sending.isCommitting) return
    const isBound = this.#sending.rules.bound.some((b) => this.#isDue(b.place, b.expiresMs, nowMs))
    const isSpare = this.#log.all.some((c) => c.spareTimers.size > 0)
    if (!isBound && !isSpare && this.#log.pending.all.length === 0) return
    this.#sending.keepUp(() => this.#send(nowMs))
  }

  async #send(nowMs: number): Promise<void> {
    await this.stopBound(nowMs)
    for (const { place, rule, expiresMs } of this.#sending.rules.bound) await this.#moveBound(place, rule, expiresMs)
    for (const past of this.#log.all) await this.#endSpareTimers(past)
    for (const pending of this.#log.pending.all) await this.#sendPending(pending)
  }

  /** Reports rules that expired, and forgets the terms of removed rules. */
  #forgetGone(nowMs: number): void {
    const { monitor, rules } = this.#sending
    const names = new Map<string, Set<string>>()
    const isThere = ({ service, host, queue, name }: RulePlace): boolean | undefined => {
      const reading = monitor.missing.has(host) ? undefined : monitor.serviceReading(host, service)
      if (!reading) return undefined
      const place = placeOf(host, service)
      let of = names.get(place)
      if (!of) names.set(place, (of = new Set(reading.rules.map((r) => `${r.queue} ${r.name}`))))
      return of.has(`${queue} ${name}`)
    }
    if (!this.#sending.isCommitting) this.#expiries.look(nowMs, rules, isThere)
    rules.forgetGone(nowMs, isThere)
  }

  /** Stops rules that only this console stops and that are due. They were accepted as such: no mode prevents it. */
  async stopBound(nowMs: number): Promise<void> {
    const { monitor, rules } = this.#sending
    for (const { place, stop } of rules.due(nowMs)) {
      const node = monitor.node(place.host)
      // When the console ends, there is no later retry.
      if (!node || (nowMs !== Infinity && !this.#isTime(boundKey(place)))) continue
      const command = setParamCommand(SERVICES[place.service].rules, stop)
      try {
        monitor.audit.write(monitor.nowMs(), place.host, 'intent', command)
      } catch {
        // Removing one of Sluice's rules only lifts a limit; it is done even without a record, as a timer would.
      }
      const answer = await sendCommand(node, command, ANSWER_MS)
      const timer = rules.find(place)?.timer
      if (answer.kind !== 'done') this.#later(boundKey(place))
      else {
        rules.forget(place)
        if (timer && timer.expiresMs <= monitor.nowMs()) this.#expiries.stopped(place, timer, monitor.nowMs())
      }
    }
  }

  /** True if a rule bound to this console needs an action. */
  #isDue(place: RulePlace, expiresMs: number, nowMs: number): boolean {
    return this.#isTime(boundKey(place)) && (expiresMs <= nowMs || this.#canMove(place))
  }

  #canMove({ host }: RulePlace): boolean {
    const { monitor } = this.#sending
    const timers = monitor.missing.has(host) ? undefined : (monitor.node(host)?.timers ?? 'systemd')
    return (
      timers !== undefined && timers !== 'none' && monitor.node(host) !== undefined && !this.#sending.writeRefusal()
    )
  }

  #isTime(key: string): boolean {
    return this.#sending.monitor.nowMs() >= (this.#againMs.get(key) ?? -Infinity)
  }

  #later(key: string): void {
    this.#againMs.set(key, this.#sending.monitor.nowMs() + AGAIN_MS)
  }

  /** Moves a rule from this console to a timer on its server, if the server now supports timers. */
  async #moveBound(place: RulePlace, rule: OperatorRule, expiresMs: number): Promise<void> {
    const { monitor, rules } = this.#sending
    const node = monitor.node(place.host)
    const seconds = Math.ceil((expiresMs - monitor.nowMs()) / 1000)
    const stop = rule.timer?.stop === undefined ? undefined : stopOf(SERVICES[place.service].rules, rule.timer.stop)
    if (!node || !stop || seconds < LEAST_S || !this.#isTime(boundKey(place)) || !this.#canMove(place)) return
    this.#later(boundKey(place))
    const spec: TimerSpec = { unit: `sluice-${randomBytes(3).toString('hex')}`, seconds, stops: [stop] }
    const command = makeTimerCommand(node.timers ?? 'systemd', spec)
    if (!command.ok) return
    try {
      monitor.audit.write(monitor.nowMs(), place.host, 'intent', command.value)
    } catch {
      // It stays bound to this console.
      return
    }
    await sendCommand(node, command.value, ANSWER_MS)
    const made = await verifyTimer(node, spec)
    if (made.ok && rules.find(place) === rule) rules.keep(place, { ...rule, timer: { unit: spec.unit, expiresMs } })
    // A timer that cannot be verified is removed, in case it exists.
    else await this.#endUnits(node, [spec.unit])
  }

  /**
   * Ends timers left over by a change that would stop nothing, or a rule with other terms. A timer that a rule still
   * needs is kept and fires in time.
   */
  async #endSpareTimers({ spareTimers, ...past }: PastChange): Promise<void> {
    const { monitor } = this.#sending
    for (const [host, units] of spareTimers) {
      const key = `timers ${past.id} ${host}`
      const node = monitor.missing.has(host) ? undefined : monitor.node(host)
      if (!node || monitor.nowMs() < past.atMs + MAY_ACT_MS || !this.#isTime(key)) continue
      this.#later(key)
      const listed = await readTimers(node, ANSWER_MS)
      const active = await readActiveRules(node, ANSWER_MS)
      if (!listed.ok || !active) continue
      const found = listed.value.filter((t) => units.includes(t.unit))
      const otherTimers = listed.value.filter((t) => t.isOwn && !units.includes(t.unit))
      const isNeeded = (s: TimerStop): boolean =>
        spotsOf(host, s)
          .filter((spot) => active.some((r) => isSamePlace(r, spot)))
          .some((spot) => !otherTimers.some((t) => covers(t, [s])) && !this.#hasOtherTerms(spot, units))
      const spare = found.filter((t) => !t.stops.some(isNeeded)).map((t) => t.unit)
      const remaining = await this.#endUnits(node, spare)
      const pending = found.map((t) => t.unit).filter((u) => remaining.includes(u) || !spare.includes(u))
      if (pending.length === 0) spareTimers.delete(host)
      else spareTimers.set(host, pending)
      const change = this.#log.find(past.id)
      if (change) this.#log.note(change)
    }
  }

  /** Ends timers, recorded first or as soon as that is possible. @returns those that may still exist. */
  #endUnits(node: NodeConnection, units: readonly string[]): Promise<string[]> {
    const { audit } = this.#sending.monitor
    return endTimerUnits({
      node,
      units,
      audit,
      nowMs: () => this.#sending.monitor.nowMs(),
      answerMs: ANSWER_MS,
      evenNeeded: true,
    })
  }

  /** True if a rule has terms of its own: another timer, or deliberately none. */
  #hasOtherTerms(place: RulePlace, units: readonly string[]): boolean {
    const known = this.#sending.rules.find(place)
    return known !== undefined && (known.timer === undefined || !units.includes(known.timer.unit))
  }

  /** Resolves an unknown outcome from a later reading of the server. */
  #resolve(past: PastChange, nowMs: number): void {
    if (past.unsure.size === 0 || nowMs < past.atMs + SETTLES_MS || this.#sending.isCommitting) return
    const { monitor, rules } = this.#sending
    const present = this.#sending.servers(past.service)
    for (const [host, change] of past.unsure) {
      const now = present.find((s) => s.server === host)
      if (!now || monitor.missing.has(host)) continue
      past.unsure.delete(host)
      const end = endOf(change, now)
      this.#settle(past, end, change)
      if (end.state === 'done') this.#doneLate(past, host)
      settleTerms({ changes: [change] }, end, rules, past.atMs)
      if (end.state === 'rolled back') this.#restoreTerms(change)
      // Neither state: the remains are stopped by their timers.
      const ended = change.timers.map((t) => t.unit)
      // Of a change that writes no rule, readings do not show whether its timers exist: the former ones stay, too.
      const isRead = change.plan.touched.length > 0
      const spare = end.state === 'rolled back' ? ended : end.state === 'done' && isRead ? change.endTimers : []
      if (spare.length > 0 && change.keeps !== 'none') past.spareTimers.set(host, spare)
      this.#log.note(past)
    }
  }

  /** Rules that the change did not replace keep their former terms. */
  #restoreTerms({ terms, was }: UnknownOutcome): void {
    const { rules } = this.#sending
    for (const { place, start } of terms) {
      if (!start) continue
      const before = was.find((w) => isSamePlace(w.place, place) && w.place.host === place.host)
      if (before) rules.keep(place, before.rule)
      else rules.forget(place)
    }
  }

  #settle(past: PastChange, end: NodeEnd, change: Parameters<typeof ruleUndoOf>[0] | undefined): void {
    const { monitor, rules } = this.#sending
    past.nodes = past.nodes.map((n) => (n.host === end.host ? end : n))
    if (end.state === 'done' && change) past.done.set(end.host, ruleUndoOf(change, rules))
    this.#log.note(past)
    try {
      monitor.audit.write(monitor.nowMs(), end.host, 'outcome', `${end.state}: ${end.detail}`)
    } catch {
      // The outcome is in the undo list; the next reading confirms it.
    }
  }

  async #sendPending(pending: PendingUndo): Promise<void> {
    const { monitor, rules } = this.#sending
    const { service, host, edits } = pending
    const reading = monitor.missing.has(host) ? undefined : monitor.serviceReading(host, service)
    const node = monitor.node(host)
    if (!reading || !node) {
      pending.why = 'the server does not answer'
      return
    }
    const refused = this.#sending.writeRefusal() ?? this.#sending.stopped()
    if (refused) {
      pending.why = `it answers again; ${refused.why ?? refused.what}`
      return
    }
    const like = this.#sending.servers(service).find((s) => s.server === host)
    const now = like && (await readServer(node, SERVICES[service], like))
    const version = await readVersion(node)
    if (!now || !version) {
      pending.why = 'its rules, or its release, could not be read'
      return
    }
    const facts = { version, keeps: node.timers ?? 'systemd' }
    const plan = planStaged(service, edits, [now], rules, () => facts)
    const [change] = plan.changes
    const gate = change?.gates.find((g) => g.action === 'refuse')
    // Rules already gone need no undo; the rest of the undo is sent.
    const end: NodeEnd =
      !change || gate
        ? { host, state: 'failed', detail: gate?.text ?? 'nothing could be planned' }
        : !isWork(change)
          ? { host, state: 'done', detail: 'it was already as before' }
          : ((await commitChange(SERVICES[service], [change], this.#sending.parts(0)))[0] as NodeEnd)
    if (end.state === 'not sent') {
      pending.why = end.detail
      return
    }
    this.#log.pending.remove(pending)
    settleTerms(plan, end, rules, monitor.nowMs())
    const past = this.#log.find(pending.changeId)
    if (past) this.#settle(past, end, change)
    const undone = this.#log.find(pending.undoes)
    if (undone && this.#log.pending.of(pending.undoes).length === 0) {
      undone.undone = past?.nodes.every((n) => n.state === 'done') ?? end.state === 'done'
      this.#log.note(undone)
    }
  }
}

const boundKey = ({ service, host, queue, name }: RulePlace): string => `bound ${service} ${host} ${queue} ${name}`

const isSamePlace = (a: Omit<RulePlace, 'host'>, b: Omit<RulePlace, 'host'>): boolean =>
  a.service === b.service && a.queue === b.queue && a.name === b.name

/** Outcome of a server, from its present rules. */
function endOf(
  { plan }: UnknownOutcome,
  now: Parameters<typeof compareHeads>[2] & { readonly server: string },
): NodeEnd {
  const host = now.server
  const toDone = compareHeads(plan.expected, plan.touched, now).differences
  if (toDone.length === 0) return { host, state: 'done', detail: 'it answers again: verified by read-back' }
  const toBefore = compareHeads(plan.before, plan.touched, now).differences
  if (toBefore.length === 0)
    return { host, state: 'rolled back', detail: 'it answers again: the change is not present' }
  return { host, state: 'failed', detail: `it answers again: ${toDone.join('; ')}` }
}
