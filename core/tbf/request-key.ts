/** Fields by which TBF classifies an RPC, and the key of its class. */
import { RULE_FIELDS, type RuleField } from '../lustre/rule-dialect.ts'

/** Fields of an RPC that the scheduler reads. */
export interface RequestKey {
  /** Job id, at most 31 bytes; empty for an RPC without one. */
  readonly jobId: string
  /** NID of the client, for example `192.168.1.7@tcp`. */
  readonly nid: string
  /** RPC name, such as `ost_write`; absent: no `opcode={...}` matches. */
  readonly opcode?: string
  /** Caller's ids; absent: 2^32-1. */
  readonly uid?: number
  readonly gid?: number
  readonly projid?: number
  /** Id of the client's nodemap; absent: no `nodemap={...}` matches. */
  readonly nodemap?: number
}

/** Value of an unknown id in an RPC. */
export const UNKNOWN_ID = 0xffff_ffff

export type Field = RuleField
export const isField = (name: string): name is Field => (RULE_FIELDS as readonly string[]).includes(name)

const KEYS: Readonly<Record<Field, (r: RequestKey) => string>> = {
  jobid: (r) => r.jobId,
  nid: (r) => r.nid,
  opcode: (r) => r.opcode ?? '',
  uid: (r) => String(r.uid ?? UNKNOWN_ID),
  gid: (r) => String(r.gid ?? UNKNOWN_ID),
  projid: (r) => String(r.projid ?? UNKNOWN_ID),
  nodemap: (r) => (r.nodemap === undefined ? '' : String(r.nodemap)),
}

/** The class that an RPC falls into under a TBF type: one bucket per distinct key. No part may hold a NUL. */
export function classKey(fields: readonly Field[], request: RequestKey): string {
  let key = KEYS[fields[0] as Field](request)
  for (let i = 1; i < fields.length; i++) key += `\u0000${KEYS[fields[i] as Field](request)}`
  return key
}
