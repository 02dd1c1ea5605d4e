/**
 * Memory layout of a real data node: one SharedArrayBuffer shared by the threads of its monitor and its clients. First POOL and
 * the report slots as laid out in core/haechi/token-memory.ts, then the equivalent of a NIC's queues, then the counters of
 * clients, then the records.
 */
import { fail, ok, type Result } from '#core/base/result.ts'
import { tokenMemoryBytes } from '#core/haechi/token-memory.ts'
import { RECORD_BYTES } from '#core/haechi/workloads/records.ts'

export interface NodeShape {
  /** Report slots: most clients that can ever join. */
  readonly slots: number
  /** Records of 4 KB. */
  readonly records: number
}

/** Offsets in bytes. */
export interface NodeLayout extends NodeShape {
  /** The monitor's owner word, doorbell and wake-up counters. */
  readonly control: number
  /** One mailbox per slot: messages of the monitor (SEND). */
  readonly mailboxes: number
  /** One block of counters per slot. */
  readonly counters: number
  readonly store: number
  readonly bytes: number
}

/** Alignment: data written by different threads never shares a cache line (two with adjacent-line prefetch). */
const LINE = 128
/** Capacity of a mailbox: T1 and S3 of eight periods. */
export const MAILBOX_MESSAGES = 16
export const MAILBOX_BYTES = LINE + MAILBOX_MESSAGES * 16
export const COUNTER_BYTES = LINE

const MAX_SLOTS = 256
/** 1 GiB. */
const MAX_RECORDS = 2 ** 18

const aligned = (at: number, to: number): number => Math.ceil(at / to) * to

export function layoutOf({ slots, records }: NodeShape): Result<NodeLayout> {
  if (!(Number.isInteger(slots) && slots >= 1 && slots <= MAX_SLOTS)) {
    const next = `Give a whole number from 1 to ${MAX_SLOTS}.`
    return fail({ code: 'E_SLOTS', what: `A node cannot have ${slots} report slots`, next })
  }
  if (!(Number.isInteger(records) && records >= 1 && records <= MAX_RECORDS)) {
    const next = `Give a whole number from 1 to ${MAX_RECORDS}.`
    return fail({ code: 'E_RECORDS', what: `A node cannot hold ${records} records`, next })
  }
  const control = aligned(tokenMemoryBytes(slots), LINE)
  const mailboxes = control + LINE
  const counters = mailboxes + slots * MAILBOX_BYTES
  const store = aligned(counters + slots * COUNTER_BYTES, RECORD_BYTES)
  return ok({ slots, records, control, mailboxes, counters, store, bytes: store + records * RECORD_BYTES })
}
