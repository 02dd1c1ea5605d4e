/** Commit of a command: sends what is staged, keeps it on record for other processes, and says how every server ended. */
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import { ok, type Result } from '#core/base/result.ts'
import { lockCommits } from '../../enforce/commit-lock.ts'
import { thisUser, type EnforcementStore } from '../../enforce/store.ts'
import { otherConsoles, othersText } from '../../host/sources/other-consoles.ts'
import { changeDocumentOf, SENDING } from '../../host/rules/change-record.ts'
import { endOfChange, type ChangeEnd, type PastChange } from '../../host/rules/past-change.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import type { OpenCluster } from '../live.ts'
import { EXIT, jsonText, line, plain, type ExitCode } from '../output.ts'
import { ChangeOnRecord } from './own-rules.ts'

export interface Sent {
  readonly code: ExitCode
  readonly nodes: readonly NodeEnd[]
  readonly changeId: string
  /** Says what was done; stays while rules are bound to this command. */
  readonly end: (json: true | undefined) => Promise<void>
}

/** Result of a change, over all servers. A change that waits for a server is partial: this process ends and sends nothing later. */
const endOf = (nodes: readonly NodeEnd[]): ChangeEnd => {
  const end = endOfChange(nodes)
  return end === 'done' && nodes.some((n) => n.state === 'pending') ? 'partial' : end
}

const CODE: Readonly<Record<ChangeEnd, ExitCode>> = {
  done: EXIT.done,
  partial: EXIT.partial,
  'not done': EXIT.failed,
  unknown: EXIT.unknown,
}

/** One exit code for all servers. */
export const codeOfEnds = (nodes: readonly NodeEnd[]): ExitCode => CODE[endOf(nodes)]

/** This process ends, so nothing is sent later by itself. */
const AGAIN = 'it does not answer; give the same command again when it does'

/** How every server ended; and how to revert the change, where any server may have something of it. */
export function sentText(changeId: string, nodes: readonly NodeEnd[]): string {
  const isGone = nodes.every((n) => n.state === 'rolled back' || n.state === 'not sent')
  return [
    ...nodes.map((n) => `${n.host}: ${n.state}, ${n.detail}`),
    ...(isGone ? [] : [`take it back with: sluice rules revert ${changeId}`]),
  ]
    .map(plain)
    .join('\n')
}

/** Rules that only this process ends are ended by it, at their time or when it is told to end. */
async function stay(ruleService: RuleService): Promise<void> {
  const isBound = (): boolean => ruleService.rules.due(Infinity).length > 0
  if (!isBound()) return
  process.stderr.write('sluice: a server keeps no timers; this command stays until its rules end. Ctrl-C ends them.\n')
  await new Promise<void>((resolve) => {
    const look = setInterval(() => !isBound() && end(), 250)
    const end = (): void => {
      clearInterval(look)
      resolve()
    }
    for (const s of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(s, end)
  })
  await ruleService.close()
}

export interface SendOptions {
  readonly service: ServiceName
  /** The plan, or the change that is taken back; for the record. */
  readonly planId: string
  readonly canaryS: number
}

/** Failures: those of a commit; nothing was sent then. */
export async function sendStaged(
  cluster: OpenCluster,
  ruleService: RuleService,
  store: EnforcementStore,
  { service, planId, canaryS }: SendOptions,
): Promise<Result<Sent>> {
  const locked = lockCommits(store, cluster.name)
  if (!locked.ok) return locked
  const others = await otherConsoles(cluster.source)
  if (others.length > 0) {
    process.stderr.write(`sluice: a controller of another console runs on it: ${plain(othersText(others))}\n`)
  }
  const plan = ruleService.plan(service)
  const sentId = ruleService.policies.plan(service)?.planId ?? plan.planId
  const record = new ChangeOnRecord(store, cluster.name, thisUser(), plan)
  // A rule that ends while it is watched would look like a failure.
  const shortest = Math.min(Infinity, ...plan.changes.flatMap((c) => c.timers.map((t) => t.seconds)))
  const canary = Math.min(canaryS, Math.floor(shortest / 3))
  const cancel = (): void => ruleService.cancel()
  for (const s of ['SIGINT', 'SIGTERM'] as const) process.on(s, cancel)
  const keep = (past: PastChange, state: string): void => {
    const document = changeDocumentOf(past, planId)
    store.changes.keep({ id: past.id, cluster: cluster.name, atMs: past.atMs, state, document })
  }
  const committed = await ruleService.commit(service, sentId, ruleService.typedTarget(service), {
    canaryS: canary,
    lock: locked.value,
    begin: (past) => keep(past, SENDING),
  })
  for (const s of ['SIGINT', 'SIGTERM'] as const) process.off(s, cancel)
  if (!committed.ok) {
    record.settle(ruleService, '', [])
    locked.value.release()
    return committed
  }
  const { changeId } = committed.value
  const nodes = committed.value.nodes.map((n) => (n.state === 'pending' ? { ...n, detail: AGAIN } : n))
  record.settle(ruleService, changeId, nodes)
  const [past] = ruleService.changes
  const state = endOf(nodes)
  if (past) keep(past, state)
  locked.value.release()
  const json = {
    change: changeId,
    plan: planId,
    cluster: cluster.name,
    service,
    state,
    nodes,
    expires: past?.expiresMs == null ? null : new Date(past.expiresMs).toISOString(),
  }
  return ok({
    code: CODE[state],
    nodes,
    changeId,
    end: async (asJson) => {
      line(asJson ? jsonText(json) : sentText(changeId, nodes))
      await stay(ruleService)
    },
  })
}
