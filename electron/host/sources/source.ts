/** Sampled source, live or emulated: its readings, writes and facts. */
import type { Env, SafeMode } from '#core/api/clusters.ts'
import type { OtherLease } from '#core/api/parts.ts'
import type { Failure } from '#core/base/result.ts'
import type { LiveServer } from '../../cluster/live/live-server.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import type { Unlock } from '../../enforce/unlock.ts'
import type { RuleService } from '../rules/rule-service.ts'

/** Facts of a source beyond its samples. */
export interface SourceFacts {
  readonly env: Env
  readonly sinceMs: number
  /** Scenario of an emulated source. */
  readonly scenario?: string | undefined
  readonly seed?: number | undefined
  /** Seconds of the source per second; 1 for a live one. */
  readonly speed: () => number
  readonly achieved: () => number
  readonly safeMode: () => SafeMode
  /** End of the unlock, Unix ms; null while locked, or if none is needed. */
  readonly unlockedUntilMs: () => number | null
  /** Servers that are not connected. */
  readonly silent?: (() => readonly string[]) | undefined
  /** Reason why nothing can be recorded, and so nothing is enforced; undefined while it can. */
  readonly recordFault?: Failure | undefined
  /** Last known leases of other consoles; absent if they are not checked. */
  readonly otherLeases?: (() => readonly OtherLease[]) | undefined
}

/** Write protection: unlock and safe mode of a cluster. */
type WriteProtection = Pick<Unlock, 'mayEnter' | 'mayWrite' | 'mayRemove' | 'unlock' | 'lock' | 'look'>

export interface Source {
  readonly monitor: ClusterMonitor
  readonly ruleService: RuleService
  readonly facts: SourceFacts
  /** undefined if the source has no adjustable speed. */
  readonly setSpeed: ((speed: number) => void) | undefined
  /** undefined: nothing is protected, as on the emulator. */
  readonly writeProtection?: WriteProtection | undefined
  /** Enforcement store; undefined if its records are part of the history. */
  readonly store?: EnforcementStore | undefined
}

/** Source in use: a live one is restarted when an unknown server connects. */
export interface OpenSource {
  readonly name: string
  /** Source of the present connection; undefined while it is not sampled. */
  readonly source: Source | undefined
  /** Servers over SSH; none for the emulator. */
  readonly servers: readonly LiveServer[]
  /** Notices about the data folder. */
  readonly notices: readonly Failure[]
  close(): Promise<void>
}
