/**
 * Changes of a service's policy: staged one at a time and alone, because its rules are lost with the policy; committed
 * after review like rules, and undone together with those rules.
 */
import { randomBytes } from 'node:crypto'
import type { NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { PolicyChoice } from '#core/control/policy-plan.ts'
import { DEFAULT_RULE } from '#core/control/server-rules.ts'
import { SERVICES } from '../../base/service.ts'
import { commitTasks } from '../../enforce/change.ts'
import { policyTask } from '../../enforce/policy-commit.ts'
import type { ChangeLog } from './change-log.ts'
import { CUT_SHORT } from './change-record.ts'
import type { Commit } from './commit.ts'
import type { ServerFacts } from './rule-plan.ts'
import type { Sending } from './sending.ts'
import type { StagedChanges } from './staged-changes.ts'
import { SampledCanaryWatch } from './canary-watch.ts'
import { policyPast, type PastChange } from './past-change.ts'
import {
  isMeantFor,
  newPolicy,
  planPolicies,
  policyRefusal,
  titleOf,
  type PlannedPolicy,
  type PolicyRead,
  type StagedPolicy,
} from './policy-plans.ts'
import { failure } from './refusal.ts'

/** Targets of a policy change, and the change that it undoes. */
export type PolicyScope = Partial<Pick<StagedPolicy, 'queue' | 'hosts' | 'back' | 'undoes'>>

export class PolicyChanges {
  readonly #sending: Sending
  /** Staged rule changes. */
  readonly #rules: StagedChanges
  readonly #log: ChangeLog
  readonly #staged = new Map<ServiceName, StagedPolicy>()

  constructor(sending: Sending, rules: StagedChanges, log: ChangeLog) {
    this.#sending = sending
    this.#rules = rules
    this.#log = log
  }

  /** Staged change; undefined for none. */
  idOf(service: ServiceName): string | undefined {
    return this.#staged.get(service)?.id
  }

  has(service: ServiceName): boolean {
    return this.#staged.has(service)
  }

  /** Stages another policy; for both queues of all servers unless `more` says otherwise. Failures: OTHERS_STAGED. */
  stage(service: ServiceName, to: PolicyChoice, reason: string, more: PolicyScope = {}): Result<string> {
    const { monitor } = this.#sending
    if (this.#rules.of(service).length > 0) {
      const next = 'Commit or discard them.'
      return fail(failure('OTHERS_STAGED', 'The policy was not staged', 'rule changes are staged', next))
    }
    const staged = newPolicy({ service, to, queue: 'both', reason, stagedMs: monitor.nowMs(), ...more })
    this.#staged.set(service, staged)
    monitor.changed()
    return ok(staged.id)
  }

  remove(service: ServiceName, id: string | null): void {
    if (id === null || this.#staged.get(service)?.id === id) this.#staged.delete(service)
  }

  /** Plan of the staged change as of now; undefined for none. */
  plan(service: ServiceName): PlannedPolicy | undefined {
    const staged = this.#staged.get(service)
    if (!staged) return undefined
    const { monitor } = this.#sending
    const servers = this.#sending.servers(service).map((s): PolicyRead => {
      return { ...s, policies: monitor.serviceReading(s.server, service)?.policies ?? [] }
    })
    const factsOf = (host: string): ServerFacts => this.#sending.facts(host)
    return planPolicies(staged, servers, { factsOf, operatorRules: this.#sending.rules, nowMs: monitor.nowMs() })
  }

  /** Reason why it cannot be committed now. */
  refusal(service: ServiceName, plan: PlannedPolicy): Failure | undefined {
    return this.#sending.writeRefusal() ?? this.#sending.busy() ?? this.planRefusal(service, plan)
  }

  /** Reason why the plan itself cannot be carried out, regardless of write permission. */
  planRefusal(service: ServiceName, plan: PlannedPolicy): Failure | undefined {
    const { monitor } = this.#sending
    const missing = monitor
      .serversOf(service)
      .filter((h) => isMeantFor(plan.staged, h) && (monitor.missing.has(h) || !monitor.reading(h)))
    return policyRefusal(plan, missing)
  }

  /** Sends the reviewed plan. Failures: PLAN_CHANGED, and those of `refusal`. @throws if it cannot be recorded. */
  async commit(
    commit: Commit,
    staged: StagedPolicy,
    { canaryS, begin }: { readonly canaryS: number; readonly begin: (past: PastChange) => void },
  ): Promise<Result<{ changeId: string; nodes: NodeEnd[] }>> {
    const { monitor } = this.#sending
    const { service, planId } = commit
    const { now, factsOf } = await this.#sending.readNow(service, 'may be hidden')
    const plan = planPolicies(staged, now, { factsOf, operatorRules: this.#sending.rules, nowMs: monitor.nowMs() })
    if (plan.planId !== planId) {
      const why = 'the servers, their policies or their rules changed since the review'
      return fail(failure('PLAN_CHANGED', 'The policy was not changed', why, 'Review again.'))
    }
    const late = policyRefusal(plan, []) ?? this.#sending.writeRefusal()
    if (late) return fail(late)
    const atMs = monitor.nowMs()
    const id = randomBytes(4).toString('hex')
    const title = staged.undoes === undefined ? `policy ${titleOf(staged)}` : staged.reason
    const text = `change ${id}, plan ${planId}: ${title} on ${service}; reason: ${staged.reason}`
    monitor.audit.write(atMs, monitor.source.cluster, 'mode', text)
    const work = plan.servers.filter((s) => s.plan.steps.length > 0)
    const head = { id, atMs, title, reason: staged.reason }
    const cutShort = work.map((s): NodeEnd => ({ host: s.plan.server, state: 'unknown', detail: CUT_SHORT }))
    begin(policyPast(service, plan, this.#sending.rules, { ...head, nodes: cutShort }))
    const tasks = work.map((s) => policyTask(SERVICES[service], s))
    const canaryWatch = (host: string): SampledCanaryWatch => new SampledCanaryWatch(monitor, service, everyJob(host))
    const nodes = await commitTasks(tasks, { ...this.#sending.commitParts(commit, canaryS), canaryWatch })
    this.#log.add(policyPast(service, plan, this.#sending.rules, { ...head, nodes }))
    const isDone = nodes.every((n) => n.state === 'done')
    if (isDone && this.#staged.get(service) === staged) this.#staged.delete(service)
    const undone = isDone ? this.#log.find(staged.undoes) : undefined
    if (undone) {
      undone.undone = true
      this.#log.note(undone)
    }
    const where = `${nodes.filter((n) => n.state === 'done').length} of ${nodes.length} servers`
    monitor.events.add({ atMs, kind: 'change', level: isDone ? 'ok' : 'bad', subject: 'Rule', text: title, where })
    return ok({ changeId: id, nodes })
  }

  /**
   * Stages the state of every server before a change, with the rules that were lost. Failures: OTHERS_STAGED,
   * NOTHING_DONE.
   */
  undo({ id, service, title }: PastChange, back: NonNullable<PastChange['policy']>): Result<undefined> {
    const [first] = back.values()
    const was = first?.policies[0]?.policy
    if (!was) {
      const why = 'it was not done on any server'
      return fail(failure('NOTHING_DONE', 'The change cannot be reverted', why, 'There is nothing to do.'))
    }
    const staged = this.stage(service, was, `revert of ${title}`, { back, undoes: id })
    return staged.ok ? ok(undefined) : staged
  }
}

/** Change that affects every job of a server, for the watch of the first server. */
const everyJob = (server: string): ConstructorParameters<typeof SampledCanaryWatch>[2] => ({
  plan: { server, commands: [], touched: [DEFAULT_RULE], before: [], expected: [] },
})
