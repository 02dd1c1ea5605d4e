/** One data RPC on its way from a client process to a target and back. */
import type { RequestKey } from '../tbf/conditions.ts'
import type { EmulatedOst } from './oss.ts'

export interface Rpc extends RequestKey {
  readonly op: 'read' | 'write'
  readonly bytes: number
  readonly ost: EmulatedOst
  /** When the process wanted it. */
  readonly issuedNs: number
  /** Called at the client when the reply is there. */
  readonly done: () => void
}
