/** Wire format of parts that the messages of both levels share. Source: docs/stage-protocol.md. */
import type { ChannelCounts, Lease, StageIdentity } from '../control/messages.ts'
import type { HousekeepingRule } from '../rules/housekeeping.ts'
import { CONTEXT_TYPES, OPERATION_CONTEXTS, OPERATION_TYPES, type Scope } from '../vocabulary.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'

/** Maximum bytes of each text: those of the public stage identity (spec/padll 3). */
export const TEXT_BYTES = { job: 200, hostname: 64, user: 256, why: 512, key: 128, name: 128 } as const

/** Maps names to numbers and back. */
function enumCodec<W extends string>(
  table: Readonly<Record<W, number>>,
): {
  put: (to: ByteWriter, word: W) => void
  take: (from: ByteReader) => W
} {
  const byNumber = new Map(Object.entries<number>(table).map(([word, n]) => [n, word as W]))
  const [first] = byNumber.values()
  return {
    put: (to, word) => to.u8(table[word]),
    take: (from) => {
      const word = byNumber.get(from.u8())
      if (word === undefined) from.wrong('W_WORD')
      return word ?? (first as W)
    },
  }
}

const contextType = enumCodec(CONTEXT_TYPES)
const type = enumCodec(OPERATION_TYPES)
const context = enumCodec(OPERATION_CONTEXTS)

const TYPE_SCOPE = 1
const CONTEXT_SCOPE = 2

/** Writes a scope: its number, then a flag for operation or class. */
export function putScope(to: ByteWriter, scope: Scope): void {
  if (Object.hasOwn(OPERATION_TYPES, scope)) {
    to.u8(OPERATION_TYPES[scope as keyof typeof OPERATION_TYPES])
    to.u8(TYPE_SCOPE)
  } else {
    to.u8(OPERATION_CONTEXTS[scope as keyof typeof OPERATION_CONTEXTS])
    to.u8(CONTEXT_SCOPE)
  }
}

const scopes = new Map<number, Scope>(
  [OPERATION_TYPES, OPERATION_CONTEXTS].flatMap((table, i) =>
    Object.entries(table).flatMap(([word, n]): [number, Scope][] =>
      n === 0 ? [] : [[(i + 1) * 256 + n, word as Scope]],
    ),
  ),
)

export function takeScope(from: ByteReader): Scope {
  const scope = scopes.get(from.u16())
  if (scope === undefined) from.wrong('W_WORD')
  return scope ?? 'total'
}

export function putIdentity(to: ByteWriter, of: StageIdentity): void {
  to.text(of.job, TEXT_BYTES.job)
  to.u32(of.instance)
  to.u32(of.pid)
  to.u32(of.ppid)
  to.text(of.hostname, TEXT_BYTES.hostname)
  to.text(of.user, TEXT_BYTES.user)
}

export const takeIdentity = (from: ByteReader): StageIdentity => ({
  job: from.text(TEXT_BYTES.job),
  instance: from.u32(),
  pid: from.u32(),
  ppid: from.u32(),
  hostname: from.text(TEXT_BYTES.hostname),
  user: from.text(TEXT_BYTES.user),
})

/** Bytes of one channel's counts. */
const COUNTS_BYTES = 50

export function putCounts(to: ByteWriter, channels: readonly ChannelCounts[]): void {
  to.u32(channels.length)
  for (const c of channels) {
    to.u32(c.channel)
    to.u32(c.object)
    putScope(to, c.scope)
    to.u64(c.arrived)
    to.u64(c.served)
    to.u64(c.waited)
    to.u64(c.queued)
    to.u64(c.throttledNs)
  }
}

export const takeCounts = (from: ByteReader): ChannelCounts[] =>
  from.list(COUNTS_BYTES, () => ({
    channel: from.u32(),
    object: from.u32(),
    scope: takeScope(from),
    arrived: from.u64(),
    served: from.u64(),
    waited: from.u64(),
    queued: from.u64(),
    throttledNs: from.u64(),
  }))

export function putLease(to: ByteWriter, lease: Lease): void {
  to.u64(lease.ns)
  to.u8(lease.onExpiry === 'hold' ? 0 : 1)
  to.f64(lease.onExpiry === 'hold' ? 0 : lease.onExpiry.rate)
}

export function takeLease(from: ByteReader): Lease {
  const ns = from.u64()
  const isRate = from.flag()
  const rate = from.rate()
  return { ns, onExpiry: isRate ? { rate } : 'hold' }
}

const CHANNEL_RULE = 1
const OBJECT_RULE = 2
/** Minimum bytes of a rule. */
export const RULE_BYTES = 16

export function putRule(to: ByteWriter, rule: HousekeepingRule): void {
  to.u8(rule.kind === 'create_channel' ? CHANNEL_RULE : OBJECT_RULE)
  contextType.put(to, rule.contextType)
  type.put(to, rule.type)
  context.put(to, rule.context)
  to.u32(rule.rule)
  to.u32(rule.channel)
  if (rule.kind === 'create_channel') {
    to.u32(rule.workflow)
    return
  }
  to.u32(rule.object)
  to.u8(rule.bucket === null ? 0 : 1)
  to.f64(rule.bucket?.refillUs ?? 0)
  to.f64(rule.bucket?.rate ?? 0)
}

export function takeRule(from: ByteReader): HousekeepingRule {
  const kind = from.u8()
  const head = {
    contextType: contextType.take(from),
    type: type.take(from),
    context: context.take(from),
    rule: from.u32(),
    channel: from.u32(),
  }
  if (kind === CHANNEL_RULE) return { kind: 'create_channel', ...head, workflow: from.u32() }
  if (kind !== OBJECT_RULE) from.wrong('W_WORD')
  const object = from.u32()
  const isLimited = from.flag()
  const bucket = { refillUs: from.rate(), rate: from.rate() }
  return { kind: 'create_object', ...head, object, bucket: isLimited ? bucket : null }
}
