/**
 * Messages on connections of ccPFS: those of core/seqdlm, and the ones around them (hello, sync, calls to the metadata server,
 * queries of a state). docs/ccpfs-protocol.md describes the bytes.
 *
 * A frame is: length, version, kind, two reserved bytes, content. A message that a table does not know, or whose content is not exactly
 * as described, ends the connection.
 */
import {
  type Block,
  type LockGrant,
  type LockRequest,
  type Message,
  type RefusalCode,
  type ReportedLock,
} from '#core/seqdlm/messages.ts'
import { LOCK_MODES, type LockMode, type LockState } from '#core/seqdlm/modes.ts'
import { EOF, isLockRange, MAX_PIECES, type LockRange, type Range } from '#core/seqdlm/ranges.ts'
import type { WireReader, WireWriter } from './bytes.ts'

export const VERSION = 1
/** Bytes of a frame after its length: version, kind, reserved. */
export const HEAD_BYTES = 4
/** Longest frame after its length: a flush of 524,288 single bytes with their headers fits. */
export const FRAME_MAX = 16 << 20
/** Longest file; offsets in its objects are not larger. */
export const FILE_MAX = 2 ** 43
/** Longest object that a server accepts: appends of several clients may exceed the longest file. */
const OBJECT_MAX = 2 ** 44
/** Longest read, and longest write of one call of the library. */
export const IO_MAX = 8 << 20
const NAME_MAX = 255
const ADDRESS_MAX = 300
const SERVERS_MAX = 1024
const WHY_MAX = 1000
const RESOURCES_MAX = 65_536

/** Connection of a client node, or of a program that only reads the state. */
export type Role = 'client' | 'observer'

export interface Hello {
  readonly kind: 'hello'
  readonly role: Role
  /** Id from the metadata server; 0 to be given one. */
  readonly client: number
  /** Id of the file system; 0 if not yet known. */
  readonly fileSystem: number
  /** Number of the server among those of the file system, and how many these are; 0 of 0 to the metadata server. */
  readonly server: number
  readonly servers: number
  /** False if the client holds nothing of this server yet. */
  readonly isReturning: boolean
  /** Host and process, for display. */
  readonly name: string
}

export interface Welcome {
  readonly kind: 'welcome'
  readonly client: number
  readonly fileSystem: number
  /** Counts the starts of the server. */
  readonly epoch: number
  /** Name of the lock manager's policy; empty from the metadata server. */
  readonly policy: string
  /** Addresses of the servers, in order; only from the metadata server. */
  readonly servers: readonly string[]
}

export type AroundMessage =
  | Hello
  | Welcome
  /** Reason for the end of the connection, which follows. */
  | { readonly kind: 'bye'; readonly code: string; readonly why: string }
  /** Requests that acknowledged writes of these objects are on stable storage. */
  | { readonly kind: 'sync-request'; readonly reqId: number; readonly resources: readonly number[] }
  /** errno is 0, or the error of the storage. */
  | { readonly kind: 'sync-reply'; readonly reqId: number; readonly errno: number }
  /** The storage of an object fails: its flushes and reads wait until it recovers (errno 0). */
  | { readonly kind: 'storage-fault'; readonly resource: number; readonly errno: number }
  | {
      readonly kind: 'call'
      readonly reqId: number
      /** Every call below this one has been answered. */
      readonly answeredBelow: number
      readonly op: number
      readonly body: Uint8Array
    }
  | { readonly kind: 'result'; readonly reqId: number; readonly result: number; readonly body: Uint8Array }
  | { readonly kind: 'query'; readonly reqId: number; readonly text: string }
  | { readonly kind: 'answer'; readonly reqId: number; readonly text: Uint8Array }

export type WireMessage = Message | AroundMessage
export type Kind = WireMessage['kind']

/** Encoder and decoder of the content of one kind. */
interface Codec<M> {
  readonly number: number
  readonly write: (to: WireWriter, message: M) => void
  readonly read: (from: WireReader) => M
}

const STATES: readonly LockState[] = ['GRANTED', 'CANCELING']
const REFUSALS: readonly RefusalCode[] = ['E_RANGE', 'E_MODE', 'E_SN_EXHAUSTED']
const ROLES: readonly Role[] = ['client', 'observer']

function choice<T>(from: WireReader, among: readonly T[]): T {
  const found = among[from.u8()]
  if (found === undefined) from.refuse('a choice is unknown')
  return found ?? (among[0] as T)
}

const readMode = (from: WireReader): LockMode => choice(from, LOCK_MODES)
const writeMode = (to: WireWriter, mode: LockMode): void => to.u8(LOCK_MODES.indexOf(mode))
const readState = (from: WireReader): LockState => choice(from, STATES)
const writeState = (to: WireWriter, state: LockState): void => to.u8(STATES.indexOf(state))

function writeRange(to: WireWriter, { start, end, pieces }: LockRange): void {
  to.u64(start)
  to.u64(end)
  to.u32(pieces?.length ?? 0)
  for (const p of pieces ?? []) {
    to.u64(p.start)
    to.u64(p.end)
  }
}

function readRange(from: WireReader): LockRange {
  const start = from.u64()
  const end = from.u64OrEof()
  const n = from.count(MAX_PIECES, 16)
  let pieces: Range[] | null = null
  if (n > 0) {
    pieces = []
    for (let i = 0; i < n; i++) pieces.push({ start: from.u64(), end: from.u64OrEof() })
  }
  const range = { start, end, pieces }
  if (from.fault === undefined && !isLockRange(range)) from.refuse('a lock range is inverted or not in order')
  return range
}

function writeIds(to: WireWriter, ids: readonly number[]): void {
  to.u32(ids.length)
  for (const id of ids) to.u64(id)
}

function readIds(from: WireReader, most: number): number[] {
  const n = from.count(most, 8)
  const ids: number[] = []
  for (let i = 0; i < n; i++) ids.push(from.u64())
  return ids
}

const LOCKS_MAX = 1 << 20
const LOCK_BYTES = 46
const BLOCKS_MAX = 524_288
const BLOCK_BYTES = 25
const HOLE = 1

function writeLock(to: WireWriter, l: ReportedLock): void {
  to.u64(l.resource)
  to.u64(l.lockId)
  writeRange(to, l.range)
  writeMode(to, l.mode)
  writeState(to, l.state)
  to.u64(l.sn)
  to.u64(l.minSn)
}

const readLock = (from: WireReader): ReportedLock => ({
  resource: from.u64(),
  lockId: from.u64(),
  range: readRange(from),
  mode: readMode(from),
  state: readState(from),
  sn: from.u64(),
  minSn: from.u64(),
})

function writeBlocks(to: WireWriter, blocks: readonly Block[]): void {
  to.u32(blocks.length)
  for (const b of blocks) {
    to.u64(b.start)
    to.u64(b.end)
    to.u64(b.sn)
    to.u8(b.hole ? HOLE : 0)
  }
  for (const b of blocks) if (b.data !== null) to.bytes(b.data)
}

function readBlocks(from: WireReader): Block[] {
  const n = from.count(BLOCKS_MAX, BLOCK_BYTES)
  const heads: Block[] = []
  for (let i = 0; i < n; i++) {
    const start = from.u64()
    const end = from.u64OrEof()
    const sn = from.u64()
    const flags = from.u8()
    if (flags > HOLE || end <= start || (end === EOF ? flags !== HOLE : end > OBJECT_MAX))
      from.refuse('an extent is not valid')
    heads.push({ start, end, sn, data: null, hole: flags === HOLE })
  }
  return heads.map((b) => {
    if (b.hole || from.fault !== undefined) return b
    return { start: b.start, end: b.end, sn: b.sn, data: from.bytes(b.end - b.start), hole: false }
  })
}

type OfKind<K extends Kind> = Extract<WireMessage, { readonly kind: K }>
type Codecs = { readonly [K in Kind]: Codec<OfKind<K>> }

const lockStep = <K extends 'revoke-reply' | 'release' | 'revoke'>(number: number, kind: K) => ({
  number,
  write: (to: WireWriter, m: { readonly resource: number; readonly lockId: number }) => {
    to.u64(m.resource)
    to.u64(m.lockId)
  },
  read: (from: WireReader) => ({ kind, resource: from.u64(), lockId: from.u64() }),
})

const empty = <K extends 'recover-query' | 'recover-open'>(number: number, kind: K) => ({
  number,
  write: () => undefined,
  read: () => ({ kind }),
})

/** Every kind, its number on the wire, and its content. */
const CODECS: Codecs = {
  hello: {
    number: 0x01,
    write: (to, m) => {
      to.u8(ROLES.indexOf(m.role))
      to.u64(m.client)
      to.u64(m.fileSystem)
      to.u16(m.server)
      to.u16(m.servers)
      to.u8(m.isReturning ? 1 : 0)
      to.text(m.name.slice(0, NAME_MAX))
    },
    read: (from) => ({
      kind: 'hello',
      role: choice(from, ROLES),
      client: from.u64(),
      fileSystem: from.u64(),
      server: from.u16(),
      servers: from.u16(),
      isReturning: choice(from, [false, true]),
      name: from.text(NAME_MAX * 4),
    }),
  },
  welcome: {
    number: 0x02,
    write: (to, m) => {
      to.u64(m.client)
      to.u64(m.fileSystem)
      to.u64(m.epoch)
      to.text(m.policy)
      to.u32(m.servers.length)
      for (const address of m.servers) to.text(address)
    },
    read: (from) => ({
      kind: 'welcome',
      client: from.u64(),
      fileSystem: from.u64(),
      epoch: from.u64(),
      policy: from.text(NAME_MAX),
      servers: Array.from({ length: from.count(SERVERS_MAX, 2) }, () => from.text(ADDRESS_MAX)),
    }),
  },
  bye: {
    number: 0x03,
    write: (to, m) => {
      to.text(m.code)
      to.text(m.why.slice(0, WHY_MAX / 4))
    },
    read: (from) => ({ kind: 'bye', code: from.text(NAME_MAX), why: from.text(WHY_MAX) }),
  },
  'lock-request': {
    number: 0x10,
    write: (to, m) => {
      to.u64(m.resource)
      to.u64(m.reqId)
      writeRange(to, m.range)
      writeMode(to, m.mode)
    },
    read: (from): LockRequest => ({
      kind: 'lock-request',
      resource: from.u64(),
      reqId: from.u64(),
      range: readRange(from),
      mode: readMode(from),
    }),
  },
  'revoke-reply': lockStep(0x11, 'revoke-reply'),
  downgrade: {
    number: 0x12,
    write: (to, m) => {
      to.u64(m.resource)
      to.u64(m.lockId)
      writeMode(to, m.mode)
    },
    read: (from) => ({ kind: 'downgrade', resource: from.u64(), lockId: from.u64(), mode: readMode(from) }),
  },
  release: lockStep(0x13, 'release'),
  'recover-report': {
    number: 0x14,
    write: (to, m) => {
      to.u32(m.locks.length)
      for (const lock of m.locks) writeLock(to, lock)
    },
    read: (from) => {
      const n = from.count(LOCKS_MAX, LOCK_BYTES)
      const locks: ReportedLock[] = []
      for (let i = 0; i < n && from.fault === undefined; i++) locks.push(readLock(from))
      return { kind: 'recover-report', locks }
    },
  },
  'lock-grant': {
    number: 0x18,
    write: (to, m) => {
      to.u64(m.resource)
      to.u64(m.reqId)
      to.u64(m.lockId)
      writeRange(to, m.range)
      writeMode(to, m.mode)
      writeState(to, m.state)
      to.u64(m.sn)
      writeIds(to, m.absorbed)
    },
    read: (from): LockGrant => ({
      kind: 'lock-grant',
      resource: from.u64(),
      reqId: from.u64(),
      lockId: from.u64(),
      range: readRange(from),
      mode: readMode(from),
      state: readState(from),
      sn: from.u64(),
      absorbed: readIds(from, LOCKS_MAX),
    }),
  },
  'lock-refusal': {
    number: 0x19,
    write: (to, m) => {
      to.u64(m.resource)
      to.u64(m.reqId)
      to.u8(REFUSALS.indexOf(m.code))
    },
    read: (from) => ({
      kind: 'lock-refusal',
      resource: from.u64(),
      reqId: from.u64(),
      code: choice(from, REFUSALS),
    }),
  },
  revoke: lockStep(0x1a, 'revoke'),
  'recover-query': empty(0x1b, 'recover-query'),
  'recover-open': empty(0x1c, 'recover-open'),
  'flush-request': {
    number: 0x20,
    write: (to, m) => {
      to.u64(m.resource)
      to.u64(m.rpcSeq)
      to.u64(m.answeredBelow)
      writeBlocks(to, m.blocks)
    },
    read: (from) => ({
      kind: 'flush-request',
      resource: from.u64(),
      rpcSeq: from.u64(),
      answeredBelow: from.u64(),
      blocks: readBlocks(from),
    }),
  },
  'read-request': {
    number: 0x21,
    write: (to, m) => {
      to.u64(m.resource)
      to.u64(m.reqId)
      to.u64(m.start)
      to.u64(m.end)
    },
    read: (from) => {
      const resource = from.u64()
      const reqId = from.u64()
      const start = from.u64()
      const end = from.u64()
      if (end <= start || end - start > IO_MAX) from.refuse('a read is empty or too long')
      return { kind: 'read-request', resource, reqId, start, end }
    },
  },
  'size-request': {
    number: 0x22,
    write: (to, m) => {
      to.u64(m.resource)
      to.u64(m.reqId)
    },
    read: (from) => ({ kind: 'size-request', resource: from.u64(), reqId: from.u64() }),
  },
  'sync-request': {
    number: 0x23,
    write: (to, m) => {
      to.u64(m.reqId)
      writeIds(to, m.resources)
    },
    read: (from) => ({ kind: 'sync-request', reqId: from.u64(), resources: readIds(from, RESOURCES_MAX) }),
  },
  'flush-reply': {
    number: 0x28,
    write: (to, m) => {
      to.u64(m.resource)
      to.u64(m.rpcSeq)
    },
    read: (from) => ({ kind: 'flush-reply', resource: from.u64(), rpcSeq: from.u64() }),
  },
  'read-reply': {
    number: 0x29,
    write: (to, m) => {
      to.u64(m.reqId)
      to.u64(m.start)
      to.u64(m.end)
      if (m.data !== null) to.bytes(m.data)
    },
    read: (from) => {
      const reqId = from.u64()
      const start = from.u64()
      const end = from.u64()
      if (end - start !== from.remaining) from.refuse('the data of a read have another length')
      return { kind: 'read-reply', reqId, start, end, data: from.rest() }
    },
  },
  'size-reply': {
    number: 0x2a,
    write: (to, m) => {
      to.u64(m.reqId)
      to.u64(m.size)
    },
    read: (from) => ({ kind: 'size-reply', reqId: from.u64(), size: from.u64() }),
  },
  'sync-reply': {
    number: 0x2b,
    write: (to, m) => {
      to.u64(m.reqId)
      to.u16(m.errno)
    },
    read: (from) => ({ kind: 'sync-reply', reqId: from.u64(), errno: from.u16() }),
  },
  'storage-fault': {
    number: 0x2c,
    write: (to, m) => {
      to.u64(m.resource)
      to.u16(m.errno)
    },
    read: (from) => ({ kind: 'storage-fault', resource: from.u64(), errno: from.u16() }),
  },
  call: {
    number: 0x40,
    write: (to, m) => {
      to.u64(m.reqId)
      to.u64(m.answeredBelow)
      to.u8(m.op)
      to.bytes(m.body)
    },
    read: (from) => ({
      kind: 'call',
      reqId: from.u64(),
      answeredBelow: from.u64(),
      op: from.u8(),
      body: from.rest(),
    }),
  },
  result: {
    number: 0x41,
    write: (to, m) => {
      to.u64(m.reqId)
      to.i32(m.result)
      to.bytes(m.body)
    },
    read: (from) => ({ kind: 'result', reqId: from.u64(), result: from.i32(), body: from.rest() }),
  },
  query: {
    number: 0x50,
    write: (to, m) => {
      to.u64(m.reqId)
      to.text(m.text)
    },
    read: (from) => ({ kind: 'query', reqId: from.u64(), text: from.text(WHY_MAX) }),
  },
  answer: {
    number: 0x51,
    write: (to, m) => {
      to.u64(m.reqId)
      to.bytes(m.text)
    },
    read: (from) => ({ kind: 'answer', reqId: from.u64(), text: from.rest() }),
  },
}

const BY_NUMBER: (Codec<WireMessage> | undefined)[] = []
for (const codec of Object.values(CODECS)) BY_NUMBER[codec.number] = codec as unknown as Codec<WireMessage>

/** Appends the frame of a message. */
export function writeMessage(to: WireWriter, message: WireMessage): void {
  const codec = CODECS[message.kind] as unknown as Codec<WireMessage>
  const mark = to.beginLength()
  to.u8(VERSION)
  to.u8(codec.number)
  to.u16(0)
  codec.write(to, message)
  to.endLength(mark)
}

/** Reads the message of one frame (without its length), or says why it is not one. */
export function readMessage(from: WireReader): WireMessage | string {
  const version = from.u8()
  if (version !== VERSION) return `it speaks version ${version} of the protocol; this is version ${VERSION}`
  const number = from.u8()
  const codec = BY_NUMBER[number]
  if (codec === undefined) return `messages of kind ${number} are unknown`
  if (from.u16() !== 0) return 'reserved bytes are not zero'
  const message = codec.read(from)
  from.finish()
  return from.fault === undefined ? message : `a ${message.kind} message is not valid: ${from.fault}`
}
