/**
 * Rules of a cluster as people change them: drafts are checked, changes staged, planned for every server and reviewed, then committed as
 * they were reviewed, and undone. One service a cluster, shared by all of its windows.
 */
import { randomBytes } from 'node:crypto'
import type { CommitProgress, NodeEnd, RuleForm, RuleState, ServiceName } from '#core/api/rule-edits.ts'
import { fail, InvariantError, ok, type Failure, type Result } from '#core/base/result.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { LUSTRE_DEFAULTS } from '#core/tbf/rule-list.ts'
import { SERVICES } from '../../base/service.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { CANARY_S, commitChange } from '../../enforce/change.ts'
import { lockCommits, type CommitLock } from '../../enforce/commit-lock.ts'
import { ChangeLog } from './change-log.ts'
import { ChangeRecord, CUT_SHORT } from './change-record.ts'
import { Commit } from './commit.ts'
import { diagnoseDraft, diagnoseRenewal } from './diagnosis.ts'
import { editOfCommand, formOfEdit, renewalOfForm, valueOfForm } from './draft.ts'
import { ShownPlans } from './shown-plans.ts'
import { OperatorRules, SETTLES_MS } from './operator-rules.ts'
import { ThrottledCache } from './throttled-cache.ts'
import { endOfChange, pastChange, whyOf, type PastChange } from './past-change.ts'
import { PendingUndos } from './pending-undo.ts'
import { PolicyChanges } from './policy-changes.ts'
import { failure, isUndo, missingFor, planRefusal } from './refusal.ts'
import { isWork, planStaged, settleTerms, type RulePlan, type ServerFacts } from './rule-plan.ts'
import { Sending, type RuleServiceOptions } from './sending.ts'
import { silentText } from './servers.ts'
import { setsTerms, STAGED_MAX, StagedChanges, type ChangeTerms, type StagedChange } from './staged-changes.ts'
import { undoEdits, type UndoEdit } from './undo.ts'
import { Upkeep } from './upkeep.ts'

/** Longest lifetime of a rule without a second confirmation, s. */
const LONG_S = 86_400

/** Options of one commit. */
export interface CommitOptions {
  /** Seconds that the first server is watched; the service's value by default. */
  readonly canaryS?: number | undefined
  /** Commit lock, if the caller already holds it; the caller releases it. */
  readonly lock?: CommitLock | undefined
  /**
   * Records the change before it is sent, in addition to the record of the service. @throws if that is not possible.
   */
  readonly begin?: ((past: PastChange) => void) | undefined
}

export type Committed = Result<{ changeId: string; nodes: NodeEnd[] }>

const tooMany = (what: string): Failure =>
  failure('TOO_MANY', what, `at most ${STAGED_MAX} changes are staged`, 'Review what is staged first.')

export class RuleService {
  readonly monitor: ClusterMonitor
  readonly options: RuleServiceOptions
  readonly staged = new StagedChanges()
  readonly rules: OperatorRules
  readonly pending = new PendingUndos()
  /** Staged changes of policy. */
  readonly policies: PolicyChanges
  readonly #sending: Sending
  readonly #log: ChangeLog
  readonly #record: ChangeRecord | undefined
  readonly #upkeep: Upkeep
  /** Plans that were shown. */
  readonly #shownPlans = new ShownPlans()
  readonly #plans: Readonly<Record<ServiceName, ThrottledCache<RulePlan>>> = {
    ost_io: new ThrottledCache(100),
    mdt: new ThrottledCache(100),
    mdt_readpage: new ThrottledCache(100),
  }
  /** Version of the staged changes at the latest review, by service. */
  readonly #reviewed = new Map<ServiceName, string>()
  /** Version of the staged changes at the end of the latest commit. */
  #endVersion = ''
  /** Commits so far: plans are made again after each. */
  #sent = 0
  /** Plan of the commit that is sent now: planned on servers that have part of it, its changes would look like errors. */
  #sentPlan: { readonly service: ServiceName; readonly plan: RulePlan } | undefined

  constructor(monitor: ClusterMonitor, options: RuleServiceOptions = {}) {
    this.monitor = monitor
    this.options = options
    this.#record = options.store && new ChangeRecord(options.store, monitor.source.cluster)
    this.rules = new OperatorRules(this.#record)
    this.#record?.refresh(this.rules)
    this.#sending = new Sending(monitor, this.rules, options)
    this.#log = new ChangeLog(monitor, this.rules, this.pending, this.#record)
    this.policies = new PolicyChanges(this.#sending, this.staged, this.#log)
    this.#upkeep = new Upkeep(this.#sending, this.#log, (past, host) => this.#doneLate(past, host))
    monitor.onChange(() => this.#upkeep.look())
  }

  /** Cancels a commit and waits for it. Stops rules that only this console would stop; others have their timers. */
  async close(): Promise<void> {
    this.cancel()
    await this.#sending.commit?.over
    await this.#upkeep.stopBound(Infinity)
  }

  /** Resolves when nothing is being sent. */
  over(): Promise<void> {
    return this.#sending.over()
  }

  /** A commit or the upkeep is sending. */
  get isSending(): boolean {
    return this.isCommitting || this.#sending.isKeepingUp
  }

  get isCommitting(): boolean {
    return this.#sending.isCommitting
  }

  /** State of the rule changes of a service. */
  state(service: ServiceName): RuleState {
    const { commit } = this.#sending
    const isLast = commit?.service === service
    if (isLast && !commit.isOver) {
      return { phase: 'committing', servers: commit.progress.nodes.map((n) => n.host) }
    }
    const version = this.#versionOf(service)
    if (isLast && commit.ends.length > 0 && version === this.#endVersion) {
      const end = endOfChange(commit.ends)
      return { phase: end === 'not done' ? 'rolled back' : end, servers: commit.ends.map((n) => n.host) }
    }
    const isReviewed = version !== '' && this.#reviewed.get(service) === version
    return { phase: isReviewed ? 'reviewed' : 'editing', servers: [] }
  }

  /** Changes that were committed, newest first. */
  get changes(): readonly PastChange[] {
    return this.#log.all
  }

  changesOf(service: ServiceName): readonly PastChange[] {
    return this.changes.filter((c) => c.service === service)
  }

  /** The commit of a service that is sent now, or was the last one sent. */
  progressOf(service: ServiceName): CommitProgress | null {
    const { commit } = this.#sending
    return commit?.service === service ? commit.progress : null
  }

  /** Cancels a commit: the first server is rolled back while it is watched, the rest get nothing. */
  cancel(): void {
    if (this.isCommitting) this.#sending.commit?.cancel()
  }

  /** Servers of a service at the newest sample. */
  servers(service: ServiceName): ServerRules[] {
    return this.#sending.servers(service)
  }

  /** Reason why a server of the cluster does not answer; undefined if it does, or does not belong to the cluster. */
  silentText(host: string): string | undefined {
    return silentText(this.monitor, host)
  }

  /** Reason why nothing may be written now: a locked or read-only cluster. */
  writeRefusal(): Failure | undefined {
    return this.#sending.writeRefusal()
  }

  /** Version of the staged changes of a service: a text that changes with them. */
  #versionOf(service: ServiceName): string {
    const rules = this.staged.of(service).map((s) => `${s.id}/${s.tries}`)
    return [...rules, this.policies.idOf(service) ?? ''].join(' ').trim()
  }

  /** Plan of the staged changes of a service, possibly cached for a moment; while it is committed, as it was before. */
  plan(service: ServiceName): RulePlan {
    if (this.#sentPlan?.service === service) return this.#sentPlan.plan
    return this.#plans[service].get(`${this.staged.version} ${this.#sent}`, () => {
      const facts = (host: string): ServerFacts => this.#sending.facts(host)
      const plan = planStaged(service, this.staged.of(service), this.servers(service), this.rules, facts)
      if (plan.staged.length > 0) this.#shownPlans.keep(plan)
      return plan
    })
  }

  /** Reviews a plan. @returns  differences since it was shown; empty while it is the plan */
  since(service: ServiceName, planId: string): string[] {
    const policy = this.policies.plan(service)
    const now = this.plan(service)
    if ((policy ?? now).planId === planId) this.#reviewed.set(service, this.#versionOf(service))
    // A changed policy is refused at commit.
    if (policy) return []
    return now.planId === planId
      ? []
      : (this.#shownPlans.since(planId, now, (host) => this.silentText(host)) ?? [
          'the plan that was shown is no longer known',
        ])
  }

  /** Stages a change. Failures: DRAFT_FAULTY (the draft has a fault), TOO_MANY. */
  stage(service: ServiceName, form: RuleForm, terms: ChangeTerms, replaces?: string): Result<string> {
    if (this.policies.has(service)) {
      const next = 'Commit or discard it first.'
      return fail(failure('OTHERS_STAGED', 'The rule was not staged', 'a policy change is staged', next))
    }
    const others = this.otherChanges(service, form, replaces)
    const renewal = renewalOfForm(form, terms.renews)
    const { command, faults } = renewal
      ? { command: undefined, faults: diagnoseRenewal(this.servers(service), others, renewal) }
      : diagnoseDraft(this.servers(service), others, valueOfForm(form))
    if ((!command && !renewal) || faults[0]) {
      const what = `${form.name === '' ? 'The rule' : form.name} was not staged`
      const why = faults[0]?.message ?? 'it cannot be read'
      return fail(failure('DRAFT_FAULTY', what, why, 'Correct it and stage it again.'))
    }
    const edit = renewal ?? (command && editOfCommand(command, LUSTRE_DEFAULTS.rate))
    if (!edit) throw new InvariantError('a draft without faults has an edit')
    // Unless it renews the timer, a change keeps the existing one.
    const own = setsTerms({ edit, terms }) ? terms : { ...terms, expiresS: null, renews: false }
    return this.#put(service, edit, own, { replaces })
  }

  /** Staged changes besides a draft, without the one that it replaces. */
  otherChanges(service: ServiceName, form: RuleForm, replaces?: string): readonly StagedChange[] {
    return this.staged
      .of(service)
      .filter(({ id, edit }) => id !== replaces && !(edit.name === form.name && edit.verb === form.verb))
  }

  #put(
    service: ServiceName,
    edit: RuleEdit,
    terms: ChangeTerms,
    more: { replaces?: string | undefined; hosts?: readonly string[]; undoes?: string } = {},
  ): Result<string> {
    const id = randomBytes(3).toString('hex')
    const { replaces, hosts, undoes } = more
    const stagedMs = this.monitor.nowMs()
    const head = { id, service, edit, form: formOfEdit(edit), terms, stagedMs }
    const isIn = this.staged.put({ ...head, hosts, undoes, tries: 0, doneOn: [] }, replaces)
    if (!isIn) return fail(tooMany(`${edit.name} was not staged`))
    this.monitor.changed()
    return ok(id)
  }

  unstage(service: ServiceName, id: string | null): void {
    this.policies.remove(service, id)
    this.staged.unstage(service, id)
    this.monitor.changed()
  }

  /** Stages reverted or replaced changes again, unchanged. Failures: OTHERS_STAGED, NOT_STAGED_ANY_MORE. */
  restore(service: ServiceName, ids: readonly string[], replaces?: string): Result<void> {
    const what = 'The change was not staged again'
    if (this.policies.has(service))
      return fail(failure('OTHERS_STAGED', what, 'a policy change is staged', 'Commit or discard it first.'))
    if (!this.staged.restore(service, ids, replaces)) {
      const why = 'it is staged, was sent, or is no longer known'
      return fail(failure('NOT_STAGED_ANY_MORE', what, why, 'Stage it again.'))
    }
    this.monitor.changed()
    return ok(undefined)
  }

  /**
   * Text that the operator types to commit: the one rule that is staged, else the cluster; for a rule of days also its
   * lifetime.
   */
  typedTarget(service: ServiceName): string {
    const staged = this.staged.of(service)
    const names = new Set(staged.map((s) => s.edit.name))
    const [only] = names
    const target = names.size === 1 && only !== undefined ? only : this.monitor.source.cluster
    const longest = Math.max(0, ...staged.map((s) => s.terms.expiresS ?? 0))
    return longest > LONG_S ? `${target} for ${Math.ceil(longest / 3600)} h` : target
  }

  /** Reason why a plan cannot be committed now; undefined if it can. */
  refusal(service: ServiceName, plan: RulePlan): Failure | undefined {
    return planRefusal(this.monitor, service, plan, this.writeRefusal() ?? this.#sending.busy())
  }

  /** Sends the reviewed plan. Failures: those of `refusal`, NOT_TYPED, PLAN_CHANGED, NOT_ON_RECORD. */
  async commit(service: ServiceName, planId: string, typed: string, options: CommitOptions = {}): Promise<Committed> {
    const { monitor, policies } = this
    const { canaryS = this.options.canaryS ?? CANARY_S, lock } = options
    this.#sending.renew()
    const policy = policies.plan(service)
    const refused = policy ? policies.refusal(service, policy) : this.refusal(service, this.plan(service))
    if (refused) return fail(refused)
    if (typed !== this.typedTarget(service)) {
      const why = 'the typed text does not match'
      return fail(failure('NOT_TYPED', 'The change was not sent', why, 'Type the target as shown.'))
    }
    // Another console, or a command, may be writing to the same cluster.
    const locked = lock ? ok(lock) : lockCommits(this.options.store, monitor.source.cluster)
    if (!locked.ok) return locked
    const commit = new Commit(service, planId, () => monitor.changed())
    const begin = (past: PastChange): void => {
      options.begin?.(past)
      this.#log.begin(past)
    }
    this.#sentPlan = { service, plan: this.plan(service) }
    this.#sending.begin(commit, locked.value)
    let ends: readonly NodeEnd[] = []
    try {
      const done = policy
        ? await policies.commit(commit, policy.staged, { canaryS, begin })
        : await this.#send(commit, { canaryS, begin })
      if (done.ok) ends = done.value.nodes
      return done
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return fail({
        code: 'NOT_ON_RECORD',
        what: 'The change was not sent everywhere',
        why,
        next: 'Free space for the history; check the rules before trying again.',
      })
    } finally {
      if (!lock) locked.value.release()
      this.#sentPlan = undefined
      this.#sending.end(ends)
      this.#endVersion = this.#versionOf(service)
      this.#sent++
      monitor.changed()
    }
  }

  /** Plans again on freshly read servers, and sends the changes that are still as reviewed. */
  async #send(
    commit: Commit,
    { canaryS, begin }: { readonly canaryS: number; readonly begin: (past: PastChange) => void },
  ): Promise<Committed> {
    const { monitor, staged, rules } = this
    const { service, planId } = commit
    const { now, factsOf } = await this.#sending.readNow(service)
    const plan = planStaged(service, staged.of(service), now, rules, factsOf)
    if (plan.planId !== planId) {
      const silent = (host: string): string | undefined => silentText(monitor, host)
      const differs = this.#shownPlans.since(planId, plan, silent) ?? [
        'the servers, or the staged changes, changed since the review',
      ]
      const next = 'Review again: the commands have changed.'
      return fail(failure('PLAN_CHANGED', 'The change was not sent', differs.join('; '), next))
    }
    const late = planRefusal(monitor, service, plan, this.writeRefusal())
    if (late) return fail(late)
    const changes = plan.changes.filter(isWork)
    const waiting = isUndo(plan) ? missingFor(monitor, service, plan) : []
    const atMs = monitor.nowMs()
    const changeId = randomBytes(4).toString('hex')
    const why = whyOf(plan)
    // The reason is recorded before anything is sent, too.
    const text = `change ${changeId}, plan ${planId}: ${why.title}; reason: ${why.reason}`
    monitor.audit.write(atMs, monitor.source.cluster, 'mode', text)
    begin(
      pastChange(service, plan, rules, {
        id: changeId,
        atMs,
        ...why,
        nodes: changes.map((c) => ({ host: c.plan.server, state: 'unknown', detail: CUT_SHORT })),
      }),
    )
    this.#record?.before(plan, atMs)
    const ends = await commitChange(SERVICES[service], changes, this.#sending.commitParts(commit, canaryS, changes))
    const nodes: NodeEnd[] = [
      ...ends,
      ...waiting.map((host) => ({ host, state: 'pending' as const, detail: 'sent when the server answers again' })),
    ]
    const past = pastChange(service, plan, rules, { id: changeId, atMs, ...why, nodes })
    for (const end of nodes) settleTerms(plan, end, rules, atMs)
    this.#record?.after(plan, nodes, rules)
    for (const host of waiting) this.#wait(plan, host, changeId)
    const done = nodes.filter((n) => n.state === 'done' || n.state === 'pending').map((n) => n.host)
    const isDone = done.length === nodes.length
    this.#log.add(past)
    if (isDone) this.#end(service, plan, waiting.length > 0)
    else staged.sent(new Set(plan.staged.map((s) => s.id)), done)
    const where = `${ends.filter((n) => n.state === 'done').length} of ${nodes.length} servers`
    const level = isDone ? 'ok' : 'bad'
    monitor.events.add({ atMs, kind: 'change', level, subject: 'Rule', text: why.title, where })
    return ok({ changeId, nodes })
  }

  /** Queues an undo for a server that does not answer. */
  #wait({ staged }: RulePlan, host: string, changeId: string): void {
    const edits = staged.filter((s) => s.hosts?.includes(host) ?? true)
    const [first] = edits
    if (!first) return
    const { service, undoes = '' } = first
    this.pending.put({ service, host, changeId, undoes, edits, why: 'the server does not answer' })
  }

  /** Removes completed changes from the staged ones; changes staged meanwhile stay. */
  #end(service: ServiceName, { staged }: RulePlan, isWaiting: boolean): void {
    for (const { id, undoes } of staged) {
      this.staged.remove(service, id)
      const past = this.#log.find(undoes)
      if (past && !isWaiting) past.undone = true
      if (past) this.#log.note(past)
    }
  }

  /** A server of a commit was found to be done after all: changes done everywhere are no longer staged. */
  #doneLate({ service, stagedIds }: PastChange, host: string): void {
    const ids = new Set(stagedIds)
    this.staged.sent(ids, [host])
    const hosts = this.monitor.serversOf(service)
    for (const s of this.staged.of(service)) {
      if (ids.has(s.id) && (s.hosts ?? hosts).every((h) => s.doneOn.includes(h))) this.staged.remove(service, s.id)
    }
  }

  /**
   * Edits that revert a change, without those of rules that no longer exist: expired ones, and ones that someone stopped.
   * A server that does not answer, or was not read since the change, may have them.
   */
  #revertOf({ atMs, done, service }: PastChange, present: readonly ServerRules[]): UndoEdit[] {
    const nowMs = this.monitor.nowMs()
    const mayHave = (host: string, name: string): boolean =>
      nowMs < atMs + SETTLES_MS ||
      this.monitor.missing.has(host) ||
      (present.find((s) => s.server === host)?.rules.some((r) => r.name === name) ?? true) ||
      this.staged.of(service).some((s) => s.edit.verb === 'start' && s.edit.name === name)
    return undoEdits(done, nowMs).filter(
      ({ edit, hosts }) => edit.verb === 'start' || hosts.some((host) => mayHave(host, edit.name)),
    )
  }

  /** Committed changes whose revert would have an effect. */
  revertible(service: ServiceName): ReadonlySet<string> {
    const present = this.servers(service)
    const has = (past: PastChange): boolean =>
      !past.undone && (past.policy !== undefined || this.#revertOf(past, present).length > 0)
    return new Set(
      this.changesOf(service)
        .filter(has)
        .map(({ id }) => id),
    )
  }

  /** Stages the revert of a change. Failures: NO_SUCH_CHANGE, NOTHING_DONE, NOTHING_LEFT, TOO_MANY. */
  undo(changeId: string): Result<undefined> {
    const past = this.#log.find(changeId)
    if (past?.policy) return this.policies.undo(past, past.policy)
    const edits = past ? this.#revertOf(past, this.servers(past.service)) : []
    const refuse = (code: string, why: string): Result<undefined> =>
      fail(failure(code, 'The change cannot be reverted', why, 'Edit the rules themselves.'))
    if (!past) return refuse('NO_SUCH_CHANGE', 'it is no longer in the change history')
    if (past.done.size === 0) return refuse('NOTHING_DONE', 'it was not done on any server')
    if (edits.length === 0) return refuse('NOTHING_LEFT', 'none of its rules would still exist')
    const { service, title } = past
    if (this.staged.of(service).length + edits.length > STAGED_MAX)
      return fail(tooMany('The change cannot be reverted'))
    // An undo already staged is replaced; remains of the change for servers that are not done must not be sent after
    // its undo.
    for (const s of this.staged.of(service)) {
      if (s.undoes === changeId || past.stagedIds.includes(s.id)) this.staged.remove(service, s.id)
    }
    for (const { edit, hosts, expiresS } of edits) {
      const put = this.#put(service, edit, { expiresS, reason: `revert of ${title}` }, { hosts, undoes: changeId })
      if (!put.ok) return put
    }
    return ok(undefined)
  }
}
