/** Wire format between a stage and its local controller. Source: docs/stage-protocol.md. */
import type { LocalToStage, ObjectCommand, StageToLocal } from '../control/messages.ts'
import type { ByteReader } from './bytes.ts'
import { frame, WIRE_VERSION, type Dialect } from './frame.ts'
import {
  putCounts,
  putIdentity,
  putLease,
  putRule,
  takeCounts,
  takeIdentity,
  takeLease,
  takeRule,
  TEXT_BYTES,
} from './parts.ts'

/** A stage reports at most 1,024 objects of 50 bytes each. */
const STAGE_MAX_BYTES = 65_536

const HELLO = 1
const ACK = 2
const COUNTS = 3
const BYE = 4
const HOUSEKEEPING = 16
const READY = 17
const ENFORCE = 18
const COLLECT = 19
const ALIVE = 20
const REFUSED = 21

const HAS_RATE = 1
const HAS_REFILL = 2

function encodeStage(m: StageToLocal): Uint8Array {
  switch (m.kind) {
    case 'hello':
      return frame(HELLO, 0, (to) => {
        to.u32(m.protocol)
        putIdentity(to, m.identity)
      })
    case 'ack':
      return frame(ACK, m.request, (to) => {
        to.u8(m.failed === undefined ? 0 : 1)
        to.text(m.failed ?? '', TEXT_BYTES.why)
      })
    case 'counts':
      return frame(COUNTS, m.request, (to) => putCounts(to, m.channels))
    case 'bye':
      return frame(BYE, 0, () => undefined)
  }
}

function decodeStage(type: number, request: number, from: ByteReader): StageToLocal | undefined {
  switch (type) {
    case HELLO:
      return { kind: 'hello', protocol: from.u32(), identity: takeIdentity(from) }
    case ACK: {
      const isFailed = from.flag()
      const failed = from.text(TEXT_BYTES.why)
      return isFailed ? { kind: 'ack', request, failed } : { kind: 'ack', request }
    }
    case COUNTS:
      return { kind: 'counts', request, channels: takeCounts(from) }
    case BYE:
      return { kind: 'bye' }
    default:
      return undefined
  }
}

/** Messages of stages. */
export const stageToLocal: Dialect<StageToLocal> = {
  maxBytes: STAGE_MAX_BYTES,
  encode: encodeStage,
  decode: decodeStage,
}

function encodeLocal(m: LocalToStage): Uint8Array {
  switch (m.kind) {
    case 'housekeeping':
      return frame(HOUSEKEEPING, m.request, (to) => putRule(to, m.rule))
    case 'ready':
      return frame(READY, m.request, (to) => putLease(to, m.lease))
    case 'enforce':
      return frame(ENFORCE, m.request, (to) => {
        const { channel, object, rate, refillNs } = m.command
        to.u64(m.epoch)
        to.u32(channel)
        to.u32(object)
        to.u8((rate === undefined ? 0 : HAS_RATE) | (refillNs === undefined ? 0 : HAS_REFILL))
        to.f64(rate ?? 0)
        to.u64(refillNs ?? 0)
      })
    case 'collect':
      return frame(COLLECT, m.request, () => undefined)
    case 'alive':
      return frame(ALIVE, 0, () => undefined)
    case 'refused':
      return frame(REFUSED, 0, (to) => to.text(m.why, TEXT_BYTES.why))
  }
}

function takeCommand(from: ByteReader): ObjectCommand {
  const channel = from.u32()
  const object = from.u32()
  const has = from.u8()
  if (has > (HAS_RATE | HAS_REFILL)) from.wrong('W_NUMBER')
  const rate = from.rate()
  const refillNs = from.u64()
  return { channel, object, ...(has & HAS_RATE ? { rate } : {}), ...(has & HAS_REFILL ? { refillNs } : {}) }
}

function decodeLocal(type: number, request: number, from: ByteReader): LocalToStage | undefined {
  switch (type) {
    case HOUSEKEEPING:
      return { kind: 'housekeeping', request, rule: takeRule(from) }
    case READY:
      return { kind: 'ready', request, lease: takeLease(from) }
    case ENFORCE:
      return { kind: 'enforce', request, epoch: from.u64(), command: takeCommand(from) }
    case COLLECT:
      return { kind: 'collect', request }
    case ALIVE:
      return { kind: 'alive' }
    case REFUSED:
      return { kind: 'refused', why: from.text(TEXT_BYTES.why) }
    default:
      return undefined
  }
}

/** Messages of local controllers to stages. */
export const localToStage: Dialect<LocalToStage> = {
  maxBytes: STAGE_MAX_BYTES,
  encode: encodeLocal,
  decode: decodeLocal,
}

/** Protocol version that a stage sends in its hello. */
export const STAGE_PROTOCOL = WIRE_VERSION
