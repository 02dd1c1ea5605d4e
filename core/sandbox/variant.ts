/** One way to run a scenario: control of its storage servers, its metadata, its locks and its data nodes. */
import type { LoopOptions } from '../adaptbf/loop-options.ts'
import type { ControllerName } from '../controllers/registry.ts'
import type { ConversionRule, DecayRule, EstimatorRule, HaechiPreset, LockOption } from '../controllers/settings.ts'

export interface VariantRule {
  readonly service: 'ost_io' | 'mdt' | 'mdt_readpage'
  /** In lctl syntax, without the parameter: `start cap jobid={a.*} rate=400`. */
  readonly line: string
}

export interface MetadataLimitSetting {
  /** Operation or class of PADLL, such as `meta_op`. */
  readonly scope: string
  /** op/s of all jobs. */
  readonly rate: number
}

/** Changed reservation of one client of a data node. */
export interface ReservationSetting {
  readonly node: string
  readonly client: string
  /** I/Os per period. */
  readonly reservation: number
}

export interface TokenSettings {
  readonly preset?: HaechiPreset
  readonly conversion?: ConversionRule
  readonly decay?: DecayRule
  readonly estimator?: {
    readonly enabled?: boolean
    readonly rule?: EstimatorRule
    /** Periods. */
    readonly history?: number
    /** Share of the profiled capacity, 0..1. */
    readonly increment?: number
  }
  readonly reservations?: readonly ReservationSetting[]
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
  readonly metadata: 'off' | 'static' | 'uniform' | 'priority' | 'proportional' | 'psfa' | 'psfa-adaptive' | null
  /** System limits of metadata that differ from the scenario's. */
  readonly metadataLimits: readonly MetadataLimitSetting[]
  /** QoS of the data nodes; off: bare nodes, basic: without conversion and decay. */
  readonly haechi: 'scenario' | 'off' | 'basic' | 'haechi'
  /** Settings of the data nodes that differ from the scenario's. */
  readonly tokens: TokenSettings
  /** Lock manager of the ccPFS; null for the scenario's. */
  readonly locks: string | null
  /** Parts of the lock manager that are switched on or off; the others are those of the manager. */
  readonly lockOptions: Partial<Record<LockOption, boolean>>
  /** Start of its controller and its rules, s. */
  readonly onS: number
}
