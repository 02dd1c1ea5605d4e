/** What the rooms around a desk need of it, and how a desk is made. */
import type { ServiceName } from '#core/api/rule-edits.ts'
import type { Failure } from '#core/base/result.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { CommitParts } from '../../enforce/change.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import type { CommitRun } from './commit-run.ts'
import type { DeskChange, DeskServer } from './desk-plan.ts'
import type { OperatorRules } from './operator-rules.ts'
import type { PastChange } from './past-change.ts'
import type { PendingUndos } from './pending-undo.ts'
import type { readNow, ServersNow } from './read-now.ts'
import type { StagedChanges } from './staged-changes.ts'

/** How a desk guards and sends; what is not given is as in operation. */
export interface DeskOptions {
  /** Why nothing may be written now: a cluster that is locked, or read-only. */
  readonly mayWrite?: (() => Failure | undefined) | undefined
  /** Seconds that the first server of a commit is watched; 0: not at all. @default 10 */
  readonly canaryS?: number | undefined
  readonly sending?: Pick<CommitParts, 'answerMs' | 'pausesMs'> | undefined
  /** Where rules of ours and the undo list are kept over a restart, and shared with commands; memory only without. */
  readonly store?: EnforcementStore | undefined
}

export interface DeskCore {
  readonly monitor: ClusterMonitor
  readonly staged: StagedChanges
  readonly rules: OperatorRules
  readonly pending: PendingUndos
  /** Changes that were committed, newest first. */
  readonly changes: readonly PastChange[]
  readonly isCommitting: boolean
  servers(service: ServiceName): ServerRules[]
  serverFacts(host: string): DeskServer
  guard(): Failure | undefined
  stopped(): Failure | undefined
  busy(): Failure | undefined
  readNow(service: ServiceName, rulesAre?: Parameters<typeof readNow>[4]): Promise<ServersNow>
  sendingParts(canaryS: number, run?: CommitRun, changes?: readonly DeskChange[]): CommitParts
  /** Puts a change on record before it is sent. @throws when that is not possible. */
  begin(past: PastChange): void
  remember(past: PastChange): void
  noteChange(past: PastChange): void
  doneLate(past: PastChange, host: string): void
  refresh(): void
}
