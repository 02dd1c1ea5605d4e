/** Lives of locks and messages of one resource as columns, in ms from the beginning of the moment that shows them. */
import type { LockLives, LockMessages } from '#core/api/locks.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { ClientId } from '#core/seqdlm/messages.ts'
import type { LockLife, TracedMessage } from '#core/seqdlm/trace/trace.ts'
import { bounded } from '../../../cluster/locks/words.ts'

/** A lock that takes the place of many, or waits for many, names the first of them. */
const NAMED_MAX = 16
const WORDS_MAX = 200

/** Clients as the frame has them: place in its list, and name. */
export interface ClientList {
  readonly placeOf: (client: ClientId) => number
  readonly nameOf: (client: ClientId) => string
}

/** Infinity is the end of the file, and no number for a message. */
const finite = (v: number): number | null => (Number.isFinite(v) ? v : null)
const known = (v: number | undefined): number | null => v ?? null

/** A trace knows clients by number only; nobody else does. */
const named = (rule: string, { nameOf }: ClientList): string =>
  rule.replace(/\bclient (\d+)\b/g, (_, number: string) => nameOf(Number(number)))

export function lifeColumns(lives: readonly LockLife[], beginNs: number, clients: ClientList): LockLives {
  const ms = (ns: number | undefined): number | null => (ns === undefined ? null : (ns - beginNs) / NS_PER_MS)
  return {
    id: lives.map((l) => l.id),
    client: lives.map((l) => clients.placeOf(l.client)),
    asked: lives.map((l) => (l.askedNs - beginNs) / NS_PER_MS),
    granted: lives.map((l) => ms(l.grantedNs)),
    canceling: lives.map((l) => ms(l.cancelingNs)),
    released: lives.map((l) => ms(l.endedNs)),
    dataAt: lives.map((l) => ms(l.dataNs)),
    mode: lives.map((l) => l.mode),
    askedMode: lives.map((l) => l.askedMode),
    sn: lives.map((l) => known(l.sn)),
    minSn: lives.map((l) => known(l.minSn)),
    start: lives.map((l) => l.range.start),
    requiredEnd: lives.map((l) => finite(l.required.end)),
    end: lives.map((l) => finite(l.range.end)),
    isEarlyGrant: lives.map((l) => l.isEarlyGrant),
    isEarlyRevocation: lives.map((l) => l.isEarlyRevocation),
    dirtyBytes: lives.map((l) => Math.max(0, l.writtenBytes - l.bytes)),
    bytes: lives.map((l) => Math.max(l.writtenBytes, l.bytes)),
    downgradedAt: lives.map((l) => ms(l.downgradedNs)),
    downgradedTo: lives.map((l) => l.downgradedTo ?? null),
    absorbed: lives.map((l) => l.absorbed.slice(0, NAMED_MAX)),
    behind: lives.map((l) => l.behind.slice(0, NAMED_MAX).map((b) => b.life)),
    behindUntil: lives.map((l) => l.behind.slice(0, NAMED_MAX).map((b) => b.until)),
    rule: lives.map((l) => bounded(named(l.rule, clients), WORDS_MAX)),
    ending: lives.map((l) => (l.ending === undefined || l.ending === 'released' ? '' : l.ending)),
  }
}

export function messageColumns(
  messages: readonly TracedMessage[],
  beginNs: number,
  { placeOf }: ClientList,
): LockMessages {
  return {
    sent: messages.map((m) => (m.sentNs - beginNs) / NS_PER_MS),
    arrived: messages.map((m) => (m.arrivedNs === undefined ? null : (m.arrivedNs - beginNs) / NS_PER_MS)),
    client: messages.map((m) => placeOf(m.client)),
    isUp: messages.map((m) => m.isUp),
    kind: messages.map((m) => m.kind),
    life: messages.map((m) => known(m.life)),
    text: messages.map((m) => bounded(m.text, WORDS_MAX)),
  }
}
