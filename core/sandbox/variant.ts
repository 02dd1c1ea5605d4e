/** One way to run a scenario: control of its storage servers, its metadata, its locks and its data nodes. */
import type { LoopOptions } from '../adaptbf/loop-options.ts'
import type { ControllerName } from '../controllers/registry.ts'

export interface VariantRule {
  readonly service: 'ost_io' | 'mdt' | 'mdt_readpage'
  /** In lctl syntax, without the parameter: `start cap jobid={a.*} rate=400`. */
  readonly line: string
}

export interface Variant {
  readonly name: string
  /** Controller of the OSTs. */
  readonly controller: ControllerName
  /** Tokens (RPC) per second of one OST; null for the scenario's. */
  readonly maxRate: number | null
  readonly periodMs: number | null
  /** Settings of AdapTBF that differ from the scenario's. */
  readonly adaptbf: Partial<LoopOptions>
  /** Written on every server of the service from `onS` on. */
  readonly rules: readonly VariantRule[]
  /** PADLL's algorithm for metadata, `off`, or null for the scenario's. */
  readonly metadata: 'off' | 'static' | 'uniform' | 'priority' | 'proportional' | 'psfa' | null
  /** off: the data nodes run without QoS. */
  readonly haechi: 'scenario' | 'off'
  /** Lock manager of the ccPFS; null for the scenario's. */
  readonly locks: string | null
  /** Start of its controller and its rules, s. */
  readonly onS: number
}
