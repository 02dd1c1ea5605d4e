/** Everything of one source, live or emulated, that a window can ask for. */
import type { Env, SafeMode } from '#core/api/clusters.ts'
import type { Alert } from '#core/api/incidents.ts'
import type { OtherLease } from '#core/api/parts.ts'
import type { Failure } from '#core/base/result.ts'
import type { Scenario } from '#core/emulator/scenario.ts'
import type { ClusterMonitor } from '../cluster/monitor.ts'
import type { EnforcementStore } from '../enforce/store.ts'
import type { Unlock } from '../enforce/unlock.ts'
import { LockComparison } from './locks/compare.ts'
import { PadllDesk } from './padll/desk.ts'
import { RuleDesk } from './rules/desk.ts'
import { TokensDesk } from './tokens/desk.ts'

/** What the host knows of a source beyond its samples. */
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

/** Everything of one source that a window can ask for. */
export interface Console {
  readonly monitor: ClusterMonitor
  readonly desk: RuleDesk
  readonly padll: PadllDesk
  readonly tokens: TokensDesk
  readonly comparison: LockComparison
  readonly facts: SourceFacts
  /** undefined where the source has no speed of its own. */
  readonly setSpeed: ((speed: number) => void) | undefined
  /** What stands between an operator and a write; undefined: nothing, as on the emulator. */
  readonly guard?: SourceGuard | undefined
  /** Record of what was enforced; undefined where it is part of the history. */
  readonly store?: EnforcementStore | undefined
  /** What is wrong with it, and why settings of alerts are not in force; set by whoever watches it. */
  alerts?: { readonly list: () => Alert[]; readonly notice: () => Failure | undefined } | undefined
}

/** What stands between an operator and a write. */
export type SourceGuard = Pick<Unlock, 'mayEnter' | 'mayWrite' | 'mayRemove' | 'unlock' | 'lock' | 'look'>

export function consoleOf(
  monitor: ClusterMonitor,
  parts: Pick<Console, 'facts' | 'setSpeed' | 'guard' | 'store'> & {
    readonly desk?: RuleDesk
    readonly scenario?: { readonly scenario: Scenario; readonly seed: number } | undefined
  },
): Console {
  const { scenario } = parts
  return {
    monitor,
    desk: parts.desk ?? new RuleDesk(monitor),
    padll: new PadllDesk(monitor),
    tokens: new TokensDesk(monitor),
    comparison: new LockComparison(monitor.locks && scenario?.scenario, scenario?.seed ?? 0),
    facts: parts.facts,
    setSpeed: parts.setSpeed,
    guard: parts.guard,
    store: parts.store,
  }
}
