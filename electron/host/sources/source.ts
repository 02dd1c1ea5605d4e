/** A source that is sampled, live or emulated: its readings, its writes and the facts about it. */
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
  /** Of an emulated source. */
  readonly scenario?: string | undefined
  readonly seed?: number | undefined
  /** Seconds of the source per second; 1 for a live one. */
  readonly speed: () => number
  readonly achieved: () => number
  readonly safeMode: () => SafeMode
  /** End of the unlock, Unix ms; null while locked, or where none is needed. */
  readonly unlockedUntilMs: () => number | null
  /** Servers that are not connected. */
  readonly silent?: (() => readonly string[]) | undefined
  /** Why nothing can be put on record, so that nothing is enforced; undefined while it can. */
  readonly recordFault?: Failure | undefined
  /** Leases of other consoles as they were found last; left out where they are not looked for. */
  readonly otherLeases?: (() => readonly OtherLease[]) | undefined
}

/** Guard of writes: unlock and safe mode of a cluster. */
export type SourceGuard = Pick<Unlock, 'mayEnter' | 'mayWrite' | 'mayRemove' | 'unlock' | 'lock' | 'look'>

export interface Source {
  readonly monitor: ClusterMonitor
  readonly ruleService: RuleService
  readonly facts: SourceFacts
  /** undefined where the source has no speed of its own. */
  readonly setSpeed: ((speed: number) => void) | undefined
  /** undefined: nothing stands between an operator and a write, as on the emulator. */
  readonly guard?: SourceGuard | undefined
  /** Record of what was enforced; undefined where it is part of the history. */
  readonly store?: EnforcementStore | undefined
}

/** A source in use: a live one begins again when a server comes in that nobody knew. */
export interface OpenSource {
  readonly name: string
  /** Of its present connection; undefined while it is not sampled. */
  readonly source: Source | undefined
  /** Servers over SSH; none for the emulator. */
  readonly servers: readonly LiveServer[]
  /** What the operator is told of the data folder. */
  readonly notices: readonly Failure[]
  close(): Promise<void>
}
