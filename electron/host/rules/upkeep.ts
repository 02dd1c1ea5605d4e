/**
 * What a desk does by itself between commits, once a second: forgets the terms of rules that are gone, stops rules that are
 * bound to this console when their time has come, finds out how servers ended that were not sure, and sends what undoes a change
 * to servers that answer again.
 */
import type { NodeEnd } from '#core/api/rule-edits.ts'
import { compareHeads } from '#core/control/read-back.ts'
import { setParamCommand } from '#core/lustre/lctl.ts'
import { placeOf, SERVICES } from '../../cluster/service.ts'
import { ask } from '../../enforce/ask.ts'
import { commitChange } from '../../enforce/change.ts'
import { ANSWER_MS, readServer, readVersion } from '../../enforce/read-server.ts'
import type { DeskCore } from './desk-core.ts'
import { isWork, planStaged, settleTerms, type DeskChange } from './desk-plan.ts'
import type { PastChange } from './past-change.ts'
import { wayBackOf } from './past-change.ts'
import type { PendingUndo } from './pending-undo.ts'

/** How often it looks, on the source's clock. */
const LOOK_MS = 1_000
/** How often it looks for what commands have noted. */
const REFRESH_MS = 5_000
/** A reading of before the commit tells nothing of it. */
const SETTLES_MS = 2_000

export class Upkeep {
  readonly #desk: DeskCore
  #lookedMs = 0
  #refreshedMs = 0
  #isSending = false
  #sending: Promise<void> = Promise.resolve()

  constructor(desk: DeskCore) {
    this.#desk = desk
  }

  /** Whether something is being sent to a server. */
  get isSending(): boolean {
    return this.#isSending
  }

  /** Resolves when nothing is being sent. */
  over(): Promise<void> {
    return this.#sending
  }

  look(): void {
    const nowMs = this.#desk.monitor.nowMs()
    // A clock that was set back begins anew.
    if (nowMs >= this.#lookedMs && nowMs - this.#lookedMs < LOOK_MS) return
    this.#lookedMs = nowMs
    if (nowMs - this.#refreshedMs >= REFRESH_MS || nowMs < this.#refreshedMs) {
      this.#refreshedMs = nowMs
      this.#desk.refresh()
    }
    this.#forgetGone(nowMs)
    for (const past of this.#desk.changes) this.#resolve(past, nowMs)
    if (this.#isSending || this.#desk.isCommitting) return
    const isDue = this.#desk.rules.due(nowMs).length > 0
    if (!isDue && this.#desk.pending.all.length === 0) return
    this.#isSending = true
    this.#sending = this.#send(nowMs).finally(() => {
      this.#isSending = false
      this.#desk.monitor.changed()
    })
  }

  async #send(nowMs: number): Promise<void> {
    await this.stopBound(nowMs)
    for (const pending of this.#desk.pending.all) await this.#sendPending(pending)
  }

  /** Forgets the terms of rules that are no longer there. */
  #forgetGone(nowMs: number): void {
    const { monitor, rules } = this.#desk
    const names = new Map<string, Set<string>>()
    rules.forgetGone(nowMs, ({ service, host, queue, name }) => {
      const reading = monitor.missing.has(host) ? undefined : monitor.serviceReading(host, service)
      if (!reading) return undefined
      const place = placeOf(host, service)
      let of = names.get(place)
      if (!of) names.set(place, (of = new Set(reading.rules.map((r) => `${r.queue} ${r.name}`))))
      return of.has(`${queue} ${name}`)
    })
  }

  /** Stops rules that only this console stops, those due at an instant. They were accepted as such: no mode holds that up. */
  async stopBound(nowMs: number): Promise<void> {
    const { monitor, rules } = this.#desk
    for (const { place, stop } of rules.due(nowMs)) {
      const node = monitor.node(place.host)
      if (!node) continue
      const command = setParamCommand(SERVICES[place.service].rules, stop)
      try {
        monitor.audit.write(monitor.nowMs(), place.host, 'intent', command)
      } catch {
        // Stopping a rule of ours gives back what it took; it is done all the same, as a timer would.
      }
      const answer = await ask(node, command, ANSWER_MS)
      if (answer.kind === 'done') rules.forget(place)
    }
  }

  /** A server whose end was not known shows it in a reading that came after. */
  #resolve(past: PastChange, nowMs: number): void {
    if (past.unsure.size === 0 || nowMs < past.atMs + SETTLES_MS || this.#desk.isCommitting) return
    const { monitor, rules } = this.#desk
    const present = this.#desk.servers(past.service)
    for (const [host, change] of past.unsure) {
      const now = present.find((s) => s.server === host)
      if (!now || monitor.missing.has(host)) continue
      past.unsure.delete(host)
      const end = endOf(change, now)
      this.#settle(past, end, change)
      if (end.state === 'done') this.#desk.doneLate(past, host)
      settleTerms({ staged: [], planId: '', changes: [change] }, end, rules, past.atMs)
    }
  }

  #settle(past: PastChange, end: NodeEnd, change: DeskChange | undefined): void {
    const { monitor, rules } = this.#desk
    past.nodes = past.nodes.map((n) => (n.host === end.host ? end : n))
    if (end.state === 'done' && change) past.done.set(end.host, wayBackOf(change, rules))
    this.#desk.noteChange(past)
    try {
      monitor.audit.write(monitor.nowMs(), end.host, 'outcome', `${end.state}: ${end.detail}`)
    } catch {
      // What came of it stands in the undo list; the next reading tells the same.
    }
  }

  async #sendPending(pending: PendingUndo): Promise<void> {
    const { monitor, rules } = this.#desk
    const { service, host, edits } = pending
    const reading = monitor.missing.has(host) ? undefined : monitor.serviceReading(host, service)
    const node = monitor.node(host)
    if (!reading || !node) {
      pending.why = 'the server does not answer'
      return
    }
    const guard = this.#desk.guard() ?? this.#desk.stopped()
    if (guard) {
      pending.why = `it answers again; ${guard.why ?? guard.what}`
      return
    }
    const like = this.#desk.servers(service).find((s) => s.server === host)
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
    // Rules that are gone meanwhile need no undoing; the rest of the way back is sent.
    const end: NodeEnd =
      !change || gate
        ? { host, state: 'failed', detail: gate?.text ?? 'nothing could be planned' }
        : !isWork(change)
          ? { host, state: 'done', detail: 'it stood as before already' }
          : ((await commitChange(SERVICES[service], [change], this.#desk.sendingParts(0)))[0] as NodeEnd)
    if (end.state === 'not sent') {
      pending.why = end.detail
      return
    }
    this.#desk.pending.remove(pending)
    settleTerms(plan, end, rules, monitor.nowMs())
    const past = this.#desk.changes.find((c) => c.id === pending.changeId)
    if (past) this.#settle(past, end, change)
    const undone = this.#desk.changes.find((c) => c.id === pending.undoes)
    if (undone && this.#desk.pending.of(pending.undoes).length === 0) {
      undone.undone = past?.nodes.every((n) => n.state === 'done') ?? end.state === 'done'
      this.#desk.noteChange(undone)
    }
  }
}

/** How a server ended, by what it shows now. */
function endOf({ plan }: DeskChange, now: Parameters<typeof compareHeads>[2] & { readonly server: string }): NodeEnd {
  const host = now.server
  const toDone = compareHeads(plan.expected, plan.touched, now).differences
  if (toDone.length === 0) return { host, state: 'done', detail: 'it answers again: read back equal' }
  const toBefore = compareHeads(plan.before, plan.touched, now).differences
  if (toBefore.length === 0)
    return { host, state: 'rolled back', detail: 'it answers again: nothing of the change is there' }
  return { host, state: 'failed', detail: `it answers again: ${toDone.join('; ')}` }
}
