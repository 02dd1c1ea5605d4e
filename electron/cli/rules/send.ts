/** Commit of a command: sends the staged changes, stores them for other processes, and reports the outcome per server. */
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import { ok, type Result } from '#core/base/result.ts'
import { lockCommits } from '../../enforce/commit-lock.ts'
import { thisUser, type EnforcementStore } from '../../enforce/store.ts'
import { otherConsoles, otherConsolesText } from '../../host/sources/other-consoles.ts'
import { changeDocumentOf, SENDING } from '../../host/rules/change-record.ts'
import { endOfChange, type ChangeEnd, type PastChange } from '../../host/rules/past-change.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import type { OpenCluster } from '../live.ts'
import { EXIT, jsonText, line, plain, type ExitCode } from '../output.ts'
import { ChangeRecorder } from './managed-rules.ts'

export interface Sent {
  readonly code: ExitCode
  readonly nodes: readonly NodeEnd[]
  readonly changeId: string
  /** Prints the outcome; does not return while rules depend on this process. */
  readonly end: (json: true | undefined) => Promise<void>
}

/** Combined result over all servers. A change pending on a server is partial: this process ends and sends nothing later. */
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

/** Exit code for all servers together. */
export const codeOfEnds = (nodes: readonly NodeEnd[]): ExitCode => CODE[endOf(nodes)]

/** This process ends, so nothing is retried. */
const AGAIN = 'it does not answer; run the same command again when it does'

/** Outcome per server, and the command to revert the change if any server may have applied some of it. */
export function sentText(changeId: string, nodes: readonly NodeEnd[]): string {
  const isGone = nodes.every((n) => n.state === 'rolled back' || n.state === 'not sent')
  return [
    ...nodes.map((n) => `${n.host}: ${n.state}, ${n.detail}`),
    ...(isGone ? [] : [`revert with: sluice rules revert ${changeId}`]),
  ]
    .map(plain)
    .join('\n')
}

/** Waits while rules depend on this process; they end at their expiry or when it is interrupted. */
async function stay(ruleService: RuleService): Promise<void> {
  const isBound = (): boolean => ruleService.rules.due(Infinity).length > 0
  if (!isBound()) return
  process.stderr.write(
    'sluice: a server supports no timers; this command keeps running until its rules end. Ctrl-C ends them.\n',
  )
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
  /** Plan, or the change that is reverted; for the audit. */
  readonly planId: string
  readonly canaryS: number
}

/** Sends the staged changes. Failures: those of a commit; nothing was sent then. */
export async function sendStaged(
  cluster: OpenCluster,
  ruleService: RuleService,
  store: EnforcementStore,
  { service, planId, canaryS }: SendOptions,
): Promise<Result<Sent>> {
  const locked = lockCommits(store, cluster.name)
  if (!locked.ok) return locked
  const consoles = await otherConsoles(cluster.source)
  if (consoles.length > 0) {
    process.stderr.write(
      `sluice: a controller of another console is running on the cluster: ${plain(otherConsolesText(consoles))}\n`,
    )
  }
  const plan = ruleService.plan(service)
  const sentId = ruleService.policies.plan(service)?.planId ?? plan.planId
  const record = new ChangeRecorder(store, cluster.name, thisUser(), plan)
  // A rule that expires during the canary would look like a failure.
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
