/** One way to run a scenario: what decides over its storage servers, its metadata, its locks and its data nodes. */
import type { LoopOptions } from '../adaptbf/loop-options.ts'
import type { ControllerName } from '../controllers/registry.ts'

export interface VariantRule {
  readonly service: 'ost_io' | 'mdt' | 'mdt_readpage'
  /** As lctl takes it, without the parameter: `start cap jobid={a.*} rate=400`. */
  readonly line: string
}

export interface Variant {
  readonly name: string
  /** Controller of the OSTs. */
  readonly controller: ControllerName
  /** Tokens (RPC) per second of one OST; null: the scenario's. */
  readonly maxRate: number | null
  readonly periodMs: number | null
  /** Settings of AdapTBF that differ from the scenario's. */
  readonly adaptbf: Partial<LoopOptions>
  /** On every server of the service from `onS` on. */
  readonly rules: readonly VariantRule[]
  /** PADLL's algorithm for metadata, `off`, or null: as the scenario says. */
  readonly metadata: 'off' | 'static' | 'uniform' | 'priority' | 'proportional' | 'psfa' | null
  /** off: the data nodes run without QoS. */
  readonly haechi: 'scenario' | 'off'
  /** Lock manager of the ccPFS; null: as the scenario says. */
  readonly locks: string | null
  /** When its controller and its rules begin, s. */
  readonly onS: number
}
