/**
 * Where rules are edited: drafts are checked, changes staged and planned for every server; a commit desk sends them after review. One
 * desk a cluster, shared by all of its windows.
 */
import { randomBytes } from 'node:crypto'
import type { CommitProgress, RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { LUSTRE_DEFAULTS } from '#core/tbf/rule-list.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import type { CommitParts } from '../../enforce/change.ts'
import { WritePermit } from '../../enforce/store-stops.ts'
import { CommitDesk, type CommitOptions, type Committed } from './commit-desk.ts'
import type { CommitRun } from './commit-run.ts'
import { planStaged, type DeskChange, type DeskPlan, type DeskServer } from './desk-plan.ts'
import type { DeskCore, DeskOptions } from './desk-core.ts'
import { DeskRecord } from './desk-record.ts'
import { diagnoseDraft } from './diagnosis.ts'
import { editOfCommand, formOfEdit, valueOfForm } from './draft.ts'
import { KeptPlans } from './kept-plans.ts'
import { OperatorRules } from './operator-rules.ts'
import { Paced } from './paced.ts'
import type { PastChange } from './past-change.ts'
import { PolicyDesk } from './policy-desk.ts'
import { PendingUndos } from './pending-undo.ts'
import { failure, planRefusal } from './refusal.ts'
import { readNow } from './read-now.ts'
import { presentServers, silentText } from './servers.ts'
import { STAGED_MAX, StagedChanges, type ChangeTerms, type StagedChange } from './staged-changes.ts'
import { undoEdits } from './undo.ts'
import { Upkeep } from './upkeep.ts'

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
  readonly #kept = new KeptPlans()
  readonly #upkeep: Upkeep
  readonly #commits: CommitDesk
  readonly #permit: WritePermit
  /** Staged changes of policy. */
  readonly policies: PolicyDesk
  readonly #plans: Readonly<Record<ServiceName, Paced<DeskPlan>>> = {
    ost_io: new Paced(100),
    mdt: new Paced(100),
    mdt_readpage: new Paced(100),
  }

  constructor(monitor: ClusterMonitor, options: DeskOptions = {}) {
    this.monitor = monitor
    this.options = options
    this.#permit = new WritePermit(monitor.source.cluster, monitor.stops)
    const record = options.store && new DeskRecord(options.store, monitor.source.cluster)
    this.rules = new OperatorRules(record)
    record?.refresh(this.rules)
    this.#commits = new CommitDesk(this, { kept: this.#kept, record })
    this.policies = new PolicyDesk(this)
    this.#upkeep = new Upkeep(this)
    monitor.onChange(() => this.#upkeep.look())
  }

  /** What is being sent is cancelled and waited for. Rules that only this console would stop are stopped; others have their timers. */
  async close(): Promise<void> {
    this.cancel()
    await this.#commits.over()
    await this.#upkeep.stopBound(Infinity)
  }

  /** Resolves when nothing is being sent. */
  async over(): Promise<void> {
    await Promise.all([this.#commits.over(), this.#upkeep.over()])
  }

  /** Whether something is being sent. */
  get isSending(): boolean {
    return this.isCommitting || this.#upkeep.isSending
  }

  get changes(): readonly PastChange[] {
    return this.#commits.changes
  }

  progressOf(service: ServiceName): CommitProgress | null {
    return this.#commits.progressOf(service)
  }

  get isCommitting(): boolean {
    return this.#commits.isCommitting
  }

  cancel(): void {
    this.#commits.cancel()
  }

  changesOf(service: ServiceName): readonly PastChange[] {
    return this.changes.filter((c) => c.service === service)
  }

  /** Servers of a service as they stand at the newest sample. */
  servers(service: ServiceName): ServerRules[] {
    return presentServers(this.monitor, service, this.rules)
  }

  /** The staged changes of a service as they would be sent now, or were a moment ago; a commit plans anew. */
  plan(service: ServiceName): DeskPlan {
    return this.#plans[service].get(`${this.staged.version} ${this.#commits.sent}`, () => {
      const facts = (host: string): DeskServer => this.serverFacts(host)
      const plan = planStaged(service, this.staged.of(service), this.servers(service), this.rules, facts)
      if (plan.staged.length > 0) this.#kept.keep(plan)
      return plan
    })
  }

  /** What the newest reading tells of a server. */
  serverFacts(host: string): DeskServer {
    const { monitor } = this
    return { version: monitor.reading(host)?.version, keeps: monitor.node(host)?.timers ?? 'systemd' }
  }

  /** That a server of the cluster does not answer; undefined where it does, or is no server of it. */
  silentText(host: string): string | undefined {
    return silentText(this.monitor, host)
  }

  /** What is different since a plan was shown; empty while it is the plan. */
  since(service: ServiceName, planId: string): string[] {
    const now = this.plan(service)
    return now.planId === planId
      ? []
      : (this.#kept.since(planId, now, (host) => this.silentText(host)) ?? [
          'the plan that was shown is not known any more',
        ])
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

  /** What stands against any write now: a lock or read-only. The mode of the controllers has no part in what is committed by hand. */
  guard(): Failure | undefined {
    return this.options.mayWrite?.()
  }

  /** Why nothing more of what was committed may be sent: everything was stopped after it. */
  stopped(): Failure | undefined {
    return this.#permit.refusal()
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

  /** Sends the reviewed plan; see `CommitDesk.commit`. */
  commit(service: ServiceName, planId: string, typed: string, how?: CommitOptions): Promise<Committed> {
    if (!this.isCommitting) this.#permit.renew()
    return this.#commits.commit(service, planId, typed, how)
  }

  /** The servers of a service as they are read right now; those that do not answer are not among them. */
  readNow(service: ServiceName, rulesAre?: Parameters<typeof readNow>[4]): ReturnType<typeof readNow> {
    return readNow(this.monitor, service, this.servers(service), this.options.sending?.answerMs, rulesAre)
  }

  sendingParts(canaryS: number, run?: CommitRun, changes?: readonly DeskChange[]): CommitParts {
    return this.#commits.sendingParts(canaryS, run, changes)
  }

  begin(past: PastChange): void {
    this.#commits.begin(past)
  }

  remember(past: PastChange): void {
    this.#commits.remember(past)
  }

  noteChange(past: PastChange): void {
    this.#commits.noteChange(past)
  }

  doneLate(past: PastChange, host: string): void {
    this.#commits.doneLate(past, host)
  }

  refresh(): void {
    this.#commits.refresh()
  }

  /** Stages what brings the rules of a change back. Failures: NO_SUCH_CHANGE, NOTHING_DONE, NOTHING_LEFT, TOO_MANY. */
  undo(changeId: string): Result<undefined> {
    const past = this.changes.find((c) => c.id === changeId)
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
