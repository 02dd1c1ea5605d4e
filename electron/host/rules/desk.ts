/**
 * Where rules are edited: drafts are checked, changes staged, planned for every server and committed after review. One desk a
 * cluster, shared by all of its windows.
 */
import { randomBytes } from 'node:crypto'
import type { CommitProgress, NodeEnd, RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { LUSTRE_DEFAULTS } from '#core/tbf/rule-list.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { SERVICES } from '../../cluster/service.ts'
import { CANARY_S, commitChange, type CommitParts } from '../../enforce/change.ts'
import { lockCommits } from '../../enforce/commit-lock.ts'
import { CommitRun } from './commit-run.ts'
import { isWork, planStaged, settleTerms, type DeskChange, type DeskPlan, type DeskServer } from './desk-plan.ts'
import type { DeskCore, DeskOptions } from './desk-core.ts'
import { DeskRecord } from './desk-record.ts'
import { diagnoseDraft } from './diagnosis.ts'
import { editOfCommand, formOfEdit, valueOfForm } from './draft.ts'
import { SampleGuard } from './guard-watch.ts'
import { KeptPlans } from './kept-plans.ts'
import { OperatorRules } from './operator-rules.ts'
import { Paced } from './paced.ts'
import { pastChange, whyOf, type PastChange } from './past-change.ts'
import { PolicyDesk } from './policy-desk.ts'
import { PendingUndos } from './pending-undo.ts'
import { failure, isUndo, missingFor, planRefusal } from './refusal.ts'
import { readNow } from './read-now.ts'
import { presentServers } from './servers.ts'
import { STAGED_MAX, StagedChanges, type ChangeTerms, type StagedChange } from './staged-changes.ts'
import { undoEdits } from './undo.ts'
import { Upkeep } from './upkeep.ts'

/** Committed changes that are remembered. */
const CHANGES_KEPT = 20
/** Longest time that a rule may stand without a second confirmation, s. */
const LONG_S = 86_400

const tooMany = (what: string): Failure =>
  failure('TOO_MANY', what, `at most ${STAGED_MAX} changes are staged`, 'Review what is staged first.')

export class RuleDesk implements DeskCore {
  readonly monitor: ClusterMonitor
  readonly staged = new StagedChanges()
  readonly rules: OperatorRules
  readonly pending = new PendingUndos()
  readonly options: DeskOptions
  #changes: readonly PastChange[] = []
  readonly #kept = new KeptPlans()
  readonly #upkeep: Upkeep
  readonly #record: DeskRecord | undefined
  #run: CommitRun | undefined
  /** Staged changes of policy. */
  readonly policies: PolicyDesk
  readonly #plans: Readonly<Record<ServiceName, Paced<DeskPlan>>> = {
    ost_io: new Paced(100),
    mdt: new Paced(100),
    mdt_readpage: new Paced(100),
  }
  /** Commits so far: after one, plans are made anew. */
  #sent = 0

  constructor(monitor: ClusterMonitor, options: DeskOptions = {}) {
    this.monitor = monitor
    this.options = options
    this.#record = options.store && new DeskRecord(options.store, monitor.source.cluster)
    this.rules = new OperatorRules(this.#record)
    this.#record?.refresh(this.rules)
    this.#changes = this.#record?.load(this.pending) ?? []
    this.policies = new PolicyDesk(this)
    this.#upkeep = new Upkeep(this)
    monitor.onChange(() => this.#upkeep.look())
  }

  /** What is being sent is cancelled and waited for. Rules that only this console would stop are stopped; others have their timers. */
  async close(): Promise<void> {
    this.cancel()
    await this.#run?.over
    await this.#upkeep.stopBound(Infinity)
  }

  /** Changes that were committed, newest first. */
  get changes(): readonly PastChange[] {
    return this.#changes
  }

  /** The commit that is sent now, or was sent last. */
  progressOf(service: ServiceName): CommitProgress | null {
    return this.#run?.service === service ? this.#run.progress : null
  }

  get isCommitting(): boolean {
    return this.#run !== undefined && !this.#run.isOver
  }

  /** Cancels what is being sent: the first server is brought back while it is watched, the rest get nothing. */
  cancel(): void {
    if (this.isCommitting) this.#run?.cancel()
  }

  changesOf(service: ServiceName): readonly PastChange[] {
    return this.#changes.filter((c) => c.service === service)
  }

  /** Servers of a service as they stand at the newest sample. */
  servers(service: ServiceName): ServerRules[] {
    return presentServers(this.monitor, service, this.rules)
  }

  /** The staged changes of a service as they would be sent now, or were a moment ago; a commit plans anew. */
  plan(service: ServiceName): DeskPlan {
    return this.#plans[service].get(`${this.staged.version} ${this.#sent}`, () => {
      const plan = this.#planOn(service, this.servers(service), (host) => this.serverFacts(host))
      if (plan.staged.length > 0) this.#kept.keep(plan)
      return plan
    })
  }

  /** What the newest reading tells of a server. */
  serverFacts(host: string): DeskServer {
    const { monitor } = this
    return { version: monitor.reading(host)?.version, keeps: monitor.node(host)?.timers ?? 'systemd' }
  }

  #planOn(service: ServiceName, servers: readonly ServerRules[], factsOf: (host: string) => DeskServer): DeskPlan {
    return planStaged(service, this.staged.of(service), servers, this.rules, factsOf)
  }

  /** What is different since a plan was shown; empty while it is the plan. */
  since(service: ServiceName, planId: string): string[] {
    const now = this.plan(service)
    return now.planId === planId
      ? []
      : (this.#kept.since(planId, now) ?? ['the plan that was shown is not known any more'])
  }

  /** Stages a change. Failures: DRAFT_FAULTY (the draft has a fault), TOO_MANY. */
  stage(service: ServiceName, form: RuleForm, terms: ChangeTerms, replaces?: string): Result<string> {
    if (this.policies.has(service)) {
      const next = 'Commit it first, or take it back.'
      return fail(failure('OTHERS_STAGED', 'The rule was not staged', 'a change of policy is staged', next))
    }
    const { command, faults } = diagnoseDraft(
      this.servers(service),
      this.othersThan(service, form, replaces),
      valueOfForm(form),
    )
    if (!command || faults[0]) {
      const what = `${form.name === '' ? 'The rule' : form.name} was not staged`
      const why = faults[0]?.message ?? 'it cannot be read'
      return fail(failure('DRAFT_FAULTY', what, why, 'Correct it and stage it again.'))
    }
    const edit = editOfCommand(command, LUSTRE_DEFAULTS.rate)
    // A timer comes with a start; a change leaves the one that is there.
    return this.#put(service, edit, edit.verb === 'start' ? terms : { ...terms, expiresS: null }, { replaces })
  }

  /** Staged changes that a draft stands beside: not the one that it replaces. */
  othersThan(service: ServiceName, form: RuleForm, replaces?: string): readonly StagedChange[] {
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
    this.staged.takeBack(service, id)
    this.monitor.changed()
  }

  /** Stages again what was taken back or replaced, as it was. Failures: OTHERS_STAGED, NOT_STAGED_ANY_MORE. */
  restore(service: ServiceName, ids: readonly string[], replaces?: string): Result<void> {
    const what = 'The change was not staged again'
    if (this.policies.has(service))
      return fail(failure('OTHERS_STAGED', what, 'a change of policy is staged', 'Commit it first, or take it back.'))
    if (!this.staged.restore(service, ids, replaces)) {
      const why = 'it is staged, was sent, or is not remembered any more'
      return fail(failure('NOT_STAGED_ANY_MORE', what, why, 'Stage it anew.'))
    }
    this.monitor.changed()
    return ok(undefined)
  }

  /** What the operator types to commit: the one rule that is staged, else the cluster; a rule of days asks for its time, too. */
  typedTarget(service: ServiceName): string {
    const staged = this.staged.of(service)
    const names = new Set(staged.map((s) => s.edit.name))
    const [only] = names
    const target = names.size === 1 && only !== undefined ? only : this.monitor.source.cluster
    const longest = Math.max(0, ...staged.map((s) => s.terms.expiresS ?? 0))
    return longest > LONG_S ? `${target} for ${Math.ceil(longest / 3600)} h` : target
  }

  /** What stands against any write now. */
  guard(): Failure | undefined {
    const { mode } = this.monitor.loop
    if (mode !== 'enforce' && !this.options.alone) {
      const what = 'The change cannot be sent'
      return failure('MODE', what, `the mode is ${mode}`, 'Choose Enforce, then review again.')
    }
    return this.options.mayWrite?.()
  }

  /** Why a plan cannot be committed now; undefined when it can. */
  refusal(service: ServiceName, plan: DeskPlan): Failure | undefined {
    return planRefusal(this.monitor, service, plan, this.guard() ?? this.busy())
  }

  /** Another commit that is being sent. */
  busy(): Failure | undefined {
    if (!this.isCommitting && !this.#upkeep.isSending) return undefined
    return failure('BUSY', 'The change cannot be sent', 'another one is being sent', 'Wait for its end.')
  }

  /**
   * Sends the reviewed plan. Failures: those of `refusal`, NOT_TYPED, PLAN_CHANGED, NOT_ON_RECORD.
   *
   * @param canaryS  seconds that the first server is watched.
   */
  async commit(
    service: ServiceName,
    planId: string,
    typed: string,
    canaryS = this.options.canaryS ?? CANARY_S,
  ): Promise<Result<{ changeId: string; nodes: NodeEnd[] }>> {
    const policy = this.policies.plan(service)
    const refused = policy ? this.policies.refusal(service, policy) : this.refusal(service, this.plan(service))
    if (refused) return fail(refused)
    if (typed !== this.typedTarget(service)) {
      const why = 'what was typed is not the target'
      return fail(failure('NOT_TYPED', 'The change was not sent', why, 'Type the target as shown.'))
    }
    // Another console, or a command, may be at work on the same cluster.
    const locked = lockCommits(this.options.store, this.monitor.source.cluster)
    if (!locked.ok) return locked
    const run = (this.#run = new CommitRun(service, planId, () => this.monitor.changed()))
    try {
      return policy ? await this.policies.commit(run, policy.staged, canaryS) : await this.#commitFresh(run, canaryS)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return fail({
        code: 'NOT_ON_RECORD',
        what: 'The change was not sent everywhere',
        why,
        next: 'Free space for the history; look at the rules before trying again.',
      })
    } finally {
      locked.value()
      run.end()
      this.#sent++
      this.monitor.changed()
    }
  }

  /** The servers of a service as they are read right now; those that do not answer are not among them. */
  readNow(service: ServiceName): ReturnType<typeof readNow> {
    return readNow(this.monitor, service, this.servers(service), this.options.sending?.answerMs)
  }

  /** How a commit of this desk is sent. */
  sendingParts(canaryS: number, run?: CommitRun, changes: readonly DeskChange[] = []): CommitParts {
    const { monitor } = this
    return {
      nodeOf: (h) => monitor.node(h),
      audit: monitor.audit,
      nowMs: () => monitor.nowMs(),
      stop: () => this.guard()?.why,
      canaryS,
      ...this.options.sending,
      ...(run && {
        guard: (host) => {
          const change = changes.find((c) => c.plan.server === host)
          return change && new SampleGuard(monitor, run.service, change)
        },
        signal: run.signal,
        onServer: run.onServer,
        onWatch: run.onWatch,
      }),
    }
  }

  async #commitFresh(run: CommitRun, canaryS: number): Promise<Result<{ changeId: string; nodes: NodeEnd[] }>> {
    const { monitor } = this
    const { service, planId } = run
    const { now, factsOf } = await this.readNow(service)
    const plan = this.#planOn(service, now, factsOf)
    if (plan.planId !== planId) {
      const differs = this.#kept.since(planId, plan) ?? ['the servers, or what is staged, changed since the review']
      const next = 'Look at the review again; it shows the new commands.'
      return fail(failure('PLAN_CHANGED', 'The change was not sent', differs.join('; '), next))
    }
    const late = planRefusal(monitor, service, plan, this.guard())
    if (late) return fail(late)
    const changes = plan.changes.filter(isWork)
    const waiting = isUndo(plan) ? missingFor(monitor, service, plan) : []
    const atMs = monitor.nowMs()
    const changeId = randomBytes(4).toString('hex')
    const why = whyOf(plan)
    // Why is on record, too, before anything is sent.
    const text = `change ${changeId}, plan ${planId}: ${why.title}; reason: ${why.reason}`
    monitor.audit.write(atMs, monitor.source.cluster, 'mode', text)
    this.#record?.before(plan, atMs)
    const ends = await commitChange(SERVICES[service], changes, this.sendingParts(canaryS, run, changes))
    const nodes: NodeEnd[] = [
      ...ends,
      ...waiting.map((host) => ({ host, state: 'pending' as const, detail: 'sent when the server answers again' })),
    ]
    const past = pastChange(service, plan, this.rules, { id: changeId, atMs, ...why, nodes })
    for (const end of nodes) settleTerms(plan, end, this.rules, atMs)
    this.#record?.after(plan, nodes, this.rules)
    for (const host of waiting) this.#wait(plan, host, changeId)
    const done = nodes.filter((n) => n.state === 'done' || n.state === 'pending').map((n) => n.host)
    const isDone = done.length === nodes.length
    this.remember(past)
    if (isDone) this.#end(service, plan, waiting.length > 0)
    else this.staged.sent(new Set(plan.staged.map((s) => s.id)), done)
    const where = `${ends.filter((n) => n.state === 'done').length} of ${nodes.length} servers`
    const level = isDone ? 'ok' : 'bad'
    monitor.events.add({ atMs, kind: 'change', level, subject: 'Rule', text: why.title, where })
    return ok({ changeId, nodes })
  }

  /** What undoes on a server that does not answer waits for it. */
  #wait({ staged }: DeskPlan, host: string, changeId: string): void {
    const edits = staged.filter((s) => s.hosts?.includes(host) ?? true)
    const [first] = edits
    if (!first) return
    const { service, undoes = '' } = first
    this.pending.put({ service, host, changeId, undoes, edits, why: 'the server does not answer' })
  }

  /** What is through leaves the staged changes; what was staged meanwhile stays. */
  #end(service: ServiceName, { staged }: DeskPlan, isWaiting: boolean): void {
    for (const { id, undoes } of staged) {
      this.staged.remove(service, id)
      const past = this.#changes.find((c) => c.id === undoes)
      if (past && !isWaiting) past.undone = true
      if (past) this.noteChange(past)
    }
  }

  /** A server of a commit turned out to be done after all: what is done everywhere is staged no longer. */
  doneLate({ service, stagedIds }: PastChange, host: string): void {
    const ids = new Set(stagedIds)
    this.staged.sent(ids, [host])
    const hosts = this.monitor.serversOf(service)
    for (const s of this.staged.of(service)) {
      if (ids.has(s.id) && (s.hosts ?? hosts).every((h) => s.doneOn.includes(h))) this.staged.remove(service, s.id)
    }
  }

  /** Puts a committed change on the undo list. */
  remember(past: PastChange): void {
    this.#changes = [past, ...this.#changes].slice(0, CHANGES_KEPT)
    this.noteChange(past)
  }

  /** Keeps what is different about a change of the undo list. */
  noteChange(past: PastChange): void {
    this.#record?.keep(past, this.pending)
  }

  /** Takes over what commands of the same data folder have noted meanwhile. */
  refresh(): void {
    if (!this.#record) return
    this.#record.refresh(this.rules)
    const known = new Set(this.#changes.map((c) => c.id))
    const others = this.#record.others(known)
    if (others.length === 0) return
    this.#changes = [...others, ...this.#changes].sort((a, b) => b.atMs - a.atMs).slice(0, CHANGES_KEPT)
  }

  /** Stages what brings the rules of a change back. Failures: NO_SUCH_CHANGE, NOTHING_DONE, NOTHING_LEFT, TOO_MANY. */
  undo(changeId: string): Result<undefined> {
    const past = this.#changes.find((c) => c.id === changeId)
    if (past?.policy) return this.policies.undo(past, past.policy)
    const edits = past ? undoEdits(past.done, this.monitor.nowMs()) : []
    const refuse = (code: string, why: string): Result<undefined> =>
      fail(failure(code, 'The change cannot be undone', why, 'Edit the rules themselves.'))
    if (!past) return refuse('NO_SUCH_CHANGE', 'it is not among those remembered')
    if (past.done.size === 0) return refuse('NOTHING_DONE', 'it was not done on any server')
    if (edits.length === 0) return refuse('NOTHING_LEFT', 'it wrote no rule that would still stand')
    const { service, title } = past
    if (this.staged.of(service).length + edits.length > STAGED_MAX) return fail(tooMany('The change cannot be undone'))
    // What was staged for it before is staged anew; what it left over for servers that are not done must not follow its undoing.
    for (const s of this.staged.of(service)) {
      if (s.undoes === changeId || past.stagedIds.includes(s.id)) this.staged.remove(service, s.id)
    }
    for (const { edit, hosts, expiresS } of edits) {
      const put = this.#put(service, edit, { expiresS, reason: `undo of ${title}` }, { hosts, undoes: changeId })
      if (!put.ok) return put
    }
    return ok(undefined)
  }
}
