/** Wire format between local controllers and the global controller. Source: docs/stage-protocol.md. */
import type { GlobalToLocal, LocalToGlobal, StageEntry } from '../control/messages.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'
import { frame, type Dialect } from './frame.ts'
import {
  putCounts,
  putIdentity,
  putLease,
  putRule,
  putScope,
  RULE_BYTES,
  takeCounts,
  takeIdentity,
  takeLease,
  takeRule,
  takeScope,
  TEXT_BYTES,
} from './parts.ts'

/** Enough for a node with some thousand stages of some channels each. */
const HIERARCHY_MAX_BYTES = 16 * 1024 * 1024

const HELLO = 32
const STAGE_JOINED = 33
const STAGE_LEFT = 34
const COUNTS = 35
const ACK = 36
const STALE = 37
const WELCOME = 48
const COLLECT = 49
const ENFORCE = 50

const key = (to: ByteWriter, text: string): void => to.text(text, TEXT_BYTES.key)
const takeKey = (from: ByteReader): string => from.text(TEXT_BYTES.key)

function putStage(to: ByteWriter, stage: StageEntry): void {
  key(to, stage.key)
  putIdentity(to, stage.identity)
  to.u32(stage.channels.length)
  for (const c of stage.channels) {
    to.u32(c.channel)
    to.u32(c.object)
    putScope(to, c.scope)
    to.f64(c.rate)
  }
}

const takeStage = (from: ByteReader): StageEntry => ({
  key: takeKey(from),
  identity: takeIdentity(from),
  channels: from.list(18, () => ({
    channel: from.u32(),
    object: from.u32(),
    scope: takeScope(from),
    rate: from.rate(),
  })),
})

function encodeLocal(m: LocalToGlobal): Uint8Array {
  switch (m.kind) {
    case 'hello':
      return frame(HELLO, 0, (to) => {
        to.text(m.local, TEXT_BYTES.name)
        to.text(m.hostname, TEXT_BYTES.hostname)
        to.u64(m.epoch)
        to.u32(m.stages.length)
        for (const stage of m.stages) putStage(to, stage)
      })
    case 'stage-joined':
      return frame(STAGE_JOINED, 0, (to) => putStage(to, m.stage))
    case 'stage-left':
      return frame(STAGE_LEFT, 0, (to) => {
        key(to, m.key)
        to.text(m.why, TEXT_BYTES.why)
      })
    case 'counts':
      return frame(COUNTS, m.request, (to) => {
        to.u64(m.windowNs)
        to.u32(m.stages.length)
        for (const stage of m.stages) {
          key(to, stage.key)
          putCounts(to, stage.channels)
        }
        to.u32(m.silent.length)
        for (const one of m.silent) key(to, one)
      })
    case 'ack':
      return frame(ACK, m.request, (to) => {
        to.u32(m.failed.length)
        for (const f of m.failed) {
          key(to, f.key)
          putScope(to, f.scope)
          to.text(f.why, TEXT_BYTES.why)
        }
      })
    case 'stale':
      return frame(STALE, m.request, (to) => {
        to.u64(m.epoch)
        to.text(m.controller, TEXT_BYTES.name)
      })
  }
}

function decodeLocal(type: number, request: number, from: ByteReader): LocalToGlobal | undefined {
  switch (type) {
    case HELLO:
      return {
        kind: 'hello',
        local: from.text(TEXT_BYTES.name),
        hostname: from.text(TEXT_BYTES.hostname),
        epoch: from.u64(),
        stages: from.list(24, () => takeStage(from)),
      }
    case STAGE_JOINED:
      return { kind: 'stage-joined', stage: takeStage(from) }
    case STAGE_LEFT:
      return { kind: 'stage-left', key: takeKey(from), why: from.text(TEXT_BYTES.why) }
    case COUNTS:
      return {
        kind: 'counts',
        request,
        windowNs: from.u64(),
        stages: from.list(6, () => ({ key: takeKey(from), channels: takeCounts(from) })),
        silent: from.list(2, () => takeKey(from)),
      }
    case ACK: {
      const failed = from.list(6, () => ({
        key: takeKey(from),
        scope: takeScope(from),
        why: from.text(TEXT_BYTES.why),
      }))
      return { kind: 'ack', request, failed }
    }
    case STALE:
      return { kind: 'stale', request, epoch: from.u64(), controller: from.text(TEXT_BYTES.name) }
    default:
      return undefined
  }
}

/** Messages of local controllers to the global one. */
export const localToGlobal: Dialect<LocalToGlobal> = {
  maxBytes: HIERARCHY_MAX_BYTES,
  encode: encodeLocal,
  decode: decodeLocal,
}

function encodeGlobal(m: GlobalToLocal): Uint8Array {
  switch (m.kind) {
    case 'welcome':
      return frame(WELCOME, 0, (to) => {
        to.u64(m.epoch)
        to.text(m.controller, TEXT_BYTES.name)
        to.u32(m.housekeeping.length)
        for (const rule of m.housekeeping) putRule(to, rule)
        putLease(to, m.lease)
      })
    case 'collect':
      return frame(COLLECT, m.request, (to) => {
        to.u64(m.epoch)
        to.text(m.controller, TEXT_BYTES.name)
      })
    case 'enforce':
      return frame(ENFORCE, m.request, (to) => {
        to.u64(m.epoch)
        to.text(m.controller, TEXT_BYTES.name)
        to.u32(m.rates.length)
        for (const r of m.rates) {
          key(to, r.key)
          putScope(to, r.scope)
          to.f64(r.rate)
        }
      })
  }
}

function decodeGlobal(type: number, request: number, from: ByteReader): GlobalToLocal | undefined {
  switch (type) {
    case WELCOME:
      return {
        kind: 'welcome',
        epoch: from.u64(),
        controller: from.text(TEXT_BYTES.name),
        housekeeping: from.list(RULE_BYTES, () => takeRule(from)),
        lease: takeLease(from),
      }
    case COLLECT:
      return { kind: 'collect', request, epoch: from.u64(), controller: from.text(TEXT_BYTES.name) }
    case ENFORCE:
      return {
        kind: 'enforce',
        request,
        epoch: from.u64(),
        controller: from.text(TEXT_BYTES.name),
        rates: from.list(12, () => ({ key: takeKey(from), scope: takeScope(from), rate: from.rate() })),
      }
    default:
      return undefined
  }
}

/** Messages of the global controller to local ones. */
export const globalToLocal: Dialect<GlobalToLocal> = {
  maxBytes: HIERARCHY_MAX_BYTES,
  encode: encodeGlobal,
  decode: decodeGlobal,
}
