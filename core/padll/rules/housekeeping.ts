/** Rules that lay out a stage: its channels and their enforcement objects. Source: spec/padll 2. */
import type { ContextType, OperationContext, OperationType } from '../vocabulary.ts'

export type HousekeepingRule =
  | {
      readonly kind: 'create_channel'
      readonly rule: number
      readonly channel: number
      readonly contextType: ContextType
      /** Workflow id, 0 for any. */
      readonly workflow: number
      readonly type: OperationType
      readonly context: OperationContext
    }
  | {
      readonly kind: 'create_object'
      readonly rule: number
      readonly channel: number
      readonly object: number
      readonly contextType: ContextType
      readonly type: OperationType
      readonly context: OperationContext
      /** Token bucket with its refill period and rate, or none. */
      readonly bucket: { readonly refillUs: number; readonly rate: number } | null
    }
