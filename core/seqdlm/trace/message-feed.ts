/** Records messages as they are sent: each becomes a row, with the life it is about as far as known by then. */
import { InvariantError } from '../../base/result.ts'
import type { Block, ClientId, FlushRequest, Message, ResourceId, ServerId } from '../messages.ts'
import * as c from './life-columns.ts'
import type { LifeStore, ResourceLives } from './life-store.ts'
import * as log from './message-log.ts'
import { NONE } from './slots.ts'

type About<K extends Message['kind']> = Extract<Message, { kind: K }>

export class MessageFeed {
  readonly #log: log.MessageLog
  readonly #lives: LifeStore

  constructor(messages: log.MessageLog, lives: LifeStore) {
    this.#log = messages
    this.#lives = lives
  }

  /** Returns the resource of a message; undefined if it has none, or answers an unknown message. */
  resourceOf(server: ServerId, client: ClientId, message: Message): ResourceId | undefined {
    switch (message.kind) {
      case 'read-reply':
      case 'size-reply': {
        const question = this.#question(server, client, message)
        return question === NONE ? undefined : this.#log.resourceOf(question)
      }
      case 'recover-query':
      case 'recover-open':
      case 'recover-report':
        return undefined
      default:
        return message.resource
    }
  }

  /** Records a message about that resource. */
  sent(here: ResourceLives, at: number, isUp: boolean, client: ClientId, message: Message): void {
    const slot = this.#log.push(at, isUp)
    this.#log.setPlace(slot, here.resource, here.server, client)
    switch (message.kind) {
      case 'lock-request': {
        const life = this.#lives.requestOf(here, client, message.reqId)
        this.#log.setKind(slot, log.LOCK_REQUEST, message.reqId)
        this.#log.setRange(slot, message.range, message.mode)
        if (life === NONE) this.#log.expectReply(slot)
        else this.#setLife(slot, life)
        return
      }
      case 'lock-grant':
        this.#log.setKind(slot, log.LOCK_GRANT, message.reqId)
        this.#log.setNamed(slot, message.sn)
        this.#log.setRange(slot, message.range, message.mode)
        return this.#setLife(slot, this.#granted(here, client, message))
      case 'release':
        this.#log.setKind(slot, log.RELEASE, NONE)
        return this.#setLock(here, slot, message.lockId)
      case 'revoke':
        this.#log.setKind(slot, log.REVOKE, NONE)
        return this.#setLock(here, slot, message.lockId)
      case 'revoke-reply':
        this.#log.setKind(slot, log.REVOKE_REPLY, NONE)
        return this.#setLock(here, slot, message.lockId)
      case 'downgrade':
        this.#log.setKind(slot, log.DOWNGRADE, NONE)
        this.#log.setMode(slot, message.mode)
        return this.#setLock(here, slot, message.lockId)
      case 'lock-refusal':
        this.#log.setKind(slot, log.LOCK_REFUSAL, message.reqId)
        return this.#setLife(slot, this.#lives.requestOf(here, client, message.reqId))
      default:
        this.#data(here, slot, client, message)
    }
  }

  /** Marks a message as answered. */
  answered(slot: number): void {
    const { resource, server, client, request } = this.#log.placeOf(slot)
    const kind = this.#log.kindOf(slot)
    const isFlush = kind === log.FLUSH_REPLY
    const requestKind = isFlush ? log.FLUSH_REQUEST : kind === log.READ_REPLY ? log.READ_REQUEST : log.SIZE_REQUEST
    this.#log.answered(this.#log.findUnanswered(requestKind, isFlush ? resource : undefined, server, client, request))
  }

  #data(here: ResourceLives, slot: number, client: ClientId, message: Message): void {
    switch (message.kind) {
      case 'flush-request':
        this.#log.setKind(slot, log.FLUSH_REQUEST, message.rpcSeq)
        this.#flushed(slot, message)
        this.#setLife(slot, this.#lives.snOf(here, message.blocks[0]?.sn ?? NONE))
        return this.#log.expectReply(slot)
      case 'flush-reply': {
        this.#log.setKind(slot, log.FLUSH_REPLY, message.rpcSeq)
        const flush = this.#log.findUnanswered(log.FLUSH_REQUEST, here.resource, here.server, client, message.rpcSeq)
        if (flush !== NONE) this.#log.setLife(slot, this.#log.lifeOf(flush), this.#log.lifeIdOf(flush))
        return
      }
      case 'read-request':
        this.#log.setKind(slot, log.READ_REQUEST, message.reqId)
        this.#log.setBytes(slot, message.start, message.end - 1)
        return this.#log.expectReply(slot)
      case 'read-reply':
        this.#log.setKind(slot, log.READ_REPLY, message.reqId)
        return this.#log.setBytes(slot, message.start, message.end - 1)
      case 'size-request':
        this.#log.setKind(slot, log.SIZE_REQUEST, message.reqId)
        return this.#log.expectReply(slot)
      case 'size-reply':
        this.#log.setKind(slot, log.SIZE_REPLY, message.reqId)
        return this.#log.setNamed(slot, message.size)
      default:
        throw new InvariantError('a message about a resource is of a kind that is kept')
    }
  }

  #granted(here: ResourceLives, client: ClientId, { lockId, reqId }: About<'lock-grant'>): number {
    const known = this.#lives.lockOf(here, lockId)
    return known !== NONE ? known : this.#lives.requestOf(here, client, reqId)
  }

  #setLife(slot: number, life: number): void {
    if (life !== NONE) this.#log.setLife(slot, life, this.#lives.table.get(life, c.ID))
  }

  #setLock(here: ResourceLives, slot: number, lockId: number): void {
    const { table } = this.#lives
    const life = this.#lives.lockOf(here, lockId)
    this.#log.setNamed(slot, lockId)
    this.#setLife(slot, life)
    if (life !== NONE) this.#log.setLock(slot, table.mode(life), table.get(life, c.SN))
  }

  #flushed(slot: number, { blocks }: FlushRequest): void {
    const sn = blocks[0]?.sn
    let bytes = 0
    for (const b of blocks) {
      if (b.sn !== sn) return this.#log.setFlushed(slot, bytesBySn(blocks))
      if (!b.hole) bytes += b.end - b.start
    }
    if (sn === undefined) this.#log.setFlushed(slot, [])
    else this.#log.setFlushedOne(slot, sn, bytes)
  }

  #question(server: ServerId, client: ClientId, { kind, reqId }: About<'read-reply' | 'size-reply'>): number {
    const requestKind = kind === 'read-reply' ? log.READ_REQUEST : log.SIZE_REQUEST
    return this.#log.findUnanswered(requestKind, undefined, server, client, reqId)
  }
}

/** Bytes of each SN, in order of first appearance. */
function bytesBySn(blocks: readonly Block[]): log.SnBytes[] {
  const out: { sn: number; bytes: number }[] = []
  let last: { sn: number; bytes: number } | undefined
  for (const { sn, start, end, hole } of blocks) {
    if (last?.sn !== sn) {
      last = out.find((o) => o.sn === sn)
      if (last === undefined) out.push((last = { sn, bytes: 0 }))
    }
    if (!hole) last.bytes += end - start
  }
  return out
}
