/** Write side of a trace: turns events of servers and message transports into lives, counts and messages. */
import type { LockEvent } from '../lock-events.ts'
import type { ClientId, Message, ResourceId, ServerId } from '../messages.ts'
import { isWriteMode } from '../modes.ts'
import * as counts from './counts.ts'
import { modeNumber } from './counts.ts'
import type { Ledger } from './ledger.ts'
import * as c from './life-columns.ts'
import type { AbsorbedLock } from './life.ts'
import type { LifeStore, ResourceLives } from './life-store.ts'
import type { LifeTable } from './life-table.ts'
import {
  FLUSH_REPLY,
  FLUSH_REQUEST,
  LOCK_REQUEST,
  MessageLog,
  READ_REPLY,
  SIZE_REPLY,
  type SnBytes,
} from './message-log.ts'
import { MessageFeed } from './message-feed.ts'
import { PeriodCounts } from './period-counts.ts'
import { NONE } from './slots.ts'
import * as step from './step-log.ts'
import type { TraceFeed } from './trace.ts'

type Of<K extends LockEvent['kind']> = Extract<LockEvent, { kind: K }>

export class Feed implements TraceFeed {
  readonly messages: MessageLog
  readonly periods = new PeriodCounts()
  readonly #messageFeed: MessageFeed
  readonly #lives: LifeStore
  readonly #table: LifeTable
  readonly #ledger: Ledger
  readonly #mostResources: number
  /** Number of events, and the latest event time, ns. */
  #seq = 0
  #now = 0
  /** Resource of the last event, often of the next one, too. */
  #last: ResourceLives | undefined
  /** Latest event of a dropped resource, ns: no resource with later events was dropped. */
  droppedAt = -Infinity

  constructor(lives: LifeStore, ledger: Ledger, limits: { readonly messages: number; readonly resources: number }) {
    this.#lives = lives
    this.#table = lives.table
    this.#ledger = ledger
    this.#mostResources = limits.resources
    this.messages = new MessageLog(limits.messages)
    this.#messageFeed = new MessageFeed(this.messages, lives)
  }

  get now(): number {
    return this.#now
  }

  readonly observe = (server: ServerId, event: LockEvent): void => {
    if (event.at > this.#now) this.#now = event.at
    this.#seq++
    const here = this.#of(event.resource, server)
    switch (event.kind) {
      case 'asked':
        return this.#requested(here, event)
      case 'waiting': {
        const life = this.#lives.requestOf(here, event.client, event.reqId)
        if (life === NONE) return
        this.#table.mark(life, c.HAS_WAITED)
        const requestedNs = this.#table.get(life, c.REQUESTED_NS)
        return this.#step(here, life, step.WAITING, this.#table.askedMode(life), 0, requestedNs)
      }
      case 'withdrawn': {
        const life = this.#lives.requestOf(here, event.client, event.reqId)
        if (life !== NONE) this.#withdrawn(here, life)
        return
      }
      case 'granted':
        return this.#granted(here, event)
      default: {
        const life = this.#lives.lockOf(here, event.lockId)
        if (life !== NONE && !this.#table.isEnded(life)) this.#changed(here, life, event)
      }
    }
  }

  readonly sent = (at: number, server: ServerId, client: ClientId, isUp: boolean, message: Message): number => {
    const resource = this.#messageFeed.resourceOf(server, client, message)
    if (resource === undefined) return NONE
    const here = this.#of(resource, server)
    const number = this.messages.next
    this.#messageFeed.sent(here, at, isUp, client, message)
    return number
  }

  readonly arrived = (message: number, at: number): void => {
    const slot = this.messages.arrive(message, at)
    if (slot === NONE) {
      const late = this.messages.arriveForgotten(message)
      if (late !== undefined) this.#flushed(late.resource, late.flushed, at)
      return
    }
    const kind = this.messages.kindOf(slot)
    if (kind < FLUSH_REQUEST) return
    const resource = this.messages.resourceOf(slot)
    if (kind === FLUSH_REQUEST) this.#flushed(resource, this.messages.flushedOf(slot), at)
    else if (kind === FLUSH_REPLY || kind === READ_REPLY || kind === SIZE_REPLY) {
      if (this.#lives.resources.has(resource)) this.#messageFeed.answered(slot)
    }
  }

  readonly wrote = (resource: ResourceId, sn: number, bytes: number, at = this.#now): void => {
    const here = this.#lives.resources.get(resource)
    const life = here === undefined ? NONE : this.#lives.snOf(here, sn)
    if (life !== NONE) this.#table.written(life, at, bytes)
  }

  #flushed(resource: ResourceId, flushed: readonly SnBytes[], at: number): void {
    const here = this.#lives.resources.get(resource)
    if (here === undefined) return
    for (const { sn, bytes } of flushed) {
      const life = this.#lives.snOf(here, sn)
      if (life !== NONE) this.#table.arrived(life, at, bytes)
    }
  }

  /** Removes a life that is no longer followed from the counts. */
  lost(here: ResourceLives, life: number): void {
    const table = this.#table
    const isGranted = table.isGranted(life)
    const flags = isGranted ? counts.WAS_HELD : table.has(life, c.HAS_WAITED) ? counts.HAD_WAITED : 0
    this.#step(here, life, step.LOST, isGranted ? table.modeNow(life) : table.askedMode(life), flags, 0)
  }

  #requested(here: ResourceLives, event: Of<'asked'>): void {
    const { client, reqId } = event
    // Requests are repeated to a server that lost them.
    const before = this.#lives.requestOf(here, client, reqId)
    if (before !== NONE) this.#withdrawn(here, before)
    const life = this.#table.request(this.#seq, this.#now, event)
    this.#lives.add(here, life)
    const message = this.messages.findUnanswered(LOCK_REQUEST, here.resource, here.server, client, reqId)
    if (message !== NONE) {
      this.messages.setLife(message, life, this.#seq)
      this.messages.answered(message)
    }
    this.#step(here, life, step.REQUESTED, this.#table.askedMode(life), 0, 0)
  }

  #granted(here: ResourceLives, event: Of<'granted'>): void {
    const life = this.#lives.requestOf(here, event.client, event.reqId)
    if (life === NONE) return
    const table = this.#table
    const { client, mode, asked, absorbed } = event
    const pieces = table.pieces(life)
    table.grant(life, this.#now, this.#seq, event)
    if (absorbed.length > 0) {
      const locks = this.#absorb(here, absorbed)
      // Details of a life that is no longer listed are never read.
      if (locks.length > 0 && table.has(life, c.IS_LISTED)) table.record(life).absorbed = locks
    }
    this.#lives.granted(here, life, pieces, isWriteMode(mode))
    let flags = table.has(life, c.HAS_WAITED) ? counts.HAD_WAITED : 0
    if (event.rule === 'early-grant') flags |= counts.IS_EARLY_GRANT
    if (event.state === 'CANCELING') flags |= counts.IS_EARLY_REVOCATION
    if (mode !== asked) flags |= counts.IS_CONVERTED
    if (isWriteMode(mode)) {
      if (here.owner !== undefined && here.owner !== client) flags |= counts.IS_OWNER_CHANGE
      here.owner = client
    }
    this.#step(here, life, step.GRANTED, pair(table.mode(life), modeNumber(asked)), flags, event.waitedNs)
  }

  #absorb(here: ResourceLives, lockIds: readonly number[]): AbsorbedLock[] {
    const absorbed: AbsorbedLock[] = []
    for (const id of lockIds) {
      const old = this.#lives.lockOf(here, id)
      if (old === NONE || this.#table.isEnded(old)) continue
      absorbed.push(this.#table.absorbed(old))
      this.#step(here, old, step.ABSORBED, this.#table.modeNow(old), 0, 0)
      this.#end(here, old, 'absorbed')
    }
    return absorbed
  }

  #changed(
    here: ResourceLives,
    life: number,
    event: Of<'revoked' | 'canceling' | 'released' | 'evicted' | 'downgraded'>,
  ): void {
    const table = this.#table
    switch (event.kind) {
      case 'revoked':
        table.revoke(life, this.#now, this.#seq)
        return this.#step(here, life, step.REVOKED, 0, 0, 0)
      case 'canceling':
        return table.cancel(life, this.#now, this.#seq)
      case 'downgraded': {
        const before = table.modeNow(life)
        table.downgrade(life, this.#now, this.#seq, event.mode)
        return this.#step(here, life, step.DOWNGRADED, pair(before, table.modeNow(life)), 0, 0)
      }
      default: {
        const revokedNs = table.get(life, c.REVOKED_NS)
        const wasRevoked = event.kind === 'released' && revokedNs < Infinity
        const ns = wasRevoked ? this.#now - revokedNs : 0
        this.#step(here, life, step.RELEASED, table.modeNow(life), wasRevoked ? counts.WAS_REVOKED : 0, ns)
        this.#end(here, life, event.kind)
      }
    }
  }

  #withdrawn(here: ResourceLives, life: number): void {
    const flags = this.#table.has(life, c.HAS_WAITED) ? counts.HAD_WAITED : 0
    this.#step(here, life, step.WITHDRAWN, this.#table.askedMode(life), flags, 0)
    this.#end(here, life, 'withdrawn')
  }

  #end(here: ResourceLives, life: number, ending: 'released' | 'evicted' | 'withdrawn' | 'absorbed'): void {
    this.#table.end(life, this.#now, this.#seq, ending)
    this.#lives.end(here, life)
  }

  #step(here: ResourceLives, life: number, code: number, modes: number, flags: number, value: number): void {
    this.#ledger.step(here.counts, this.#now, code, modes, flags, value)
    this.periods.step(here, life, this.#now, code, modes, flags, value)
  }

  #of(resource: ResourceId, server: ServerId): ResourceLives {
    const last = this.#last
    if (last !== undefined && last.resource === resource) return last
    let here = this.#lives.resources.get(resource)
    if (here === undefined) {
      if (this.#lives.resources.size >= this.#mostResources) this.#dropOne()
      here = this.#lives.open(resource, server, this.#ledger.of(resource))
    }
    return (this.#last = here)
  }

  /** Drops the resource with the oldest last event, preferably one that is not in use. */
  #dropOne(): void {
    let least: ResourceLives | undefined
    let leastAt = Infinity
    for (const here of this.#lives.resources.values()) {
      const { lastAt } = here.counts
      const rank = here.open.size > 0 ? lastAt + 1e18 : lastAt
      if (least === undefined || rank < leastAt) [least, leastAt] = [here, rank]
    }
    if (least === undefined) return
    this.#lives.drop(least, this.#now)
    this.droppedAt = Math.max(this.droppedAt, least.counts.lastAt)
    this.#ledger.forget(least.resource)
  }
}

const pair = (mode: number, other: number): number => mode + other * 4
