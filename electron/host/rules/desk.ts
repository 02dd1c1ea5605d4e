/**
 * Where rules are edited: drafts are checked, changes staged, planned for every server and committed after review. One desk a
 * cluster, shared by all of its windows.
 */
import { randomBytes } from 'node:crypto'
import type { NodeEnd, RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'
import { QUEUES, type ServerRules } from '#core/control/server-rules.ts'
import { LUSTRE_DEFAULTS } from '#core/tbf/rule-list.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { placeOf, SERVICES } from '../../cluster/service.ts'
import { commitChange, readServer } from '../../enforce/change.ts'
import { isWork, planStaged, settleTerms, type DeskPlan } from './desk-plan.ts'
import { diagnoseDraft } from './diagnosis.ts'
import { editOfCommand, formOfEdit, valueOfForm } from './draft.ts'
import { OperatorRules } from './operator-rules.ts'
import { Paced } from './paced.ts'
import { pastChange, whyOf, type PastChange } from './past-change.ts'
import { presentServers } from './servers.ts'
import { STAGED_MAX, StagedChanges, type ChangeTerms, type StagedChange } from './staged-changes.ts'
import { undoEdits } from './undo.ts'

/** Committed changes that are remembered. */
const CHANGES_KEPT = 20
/** How often it is looked for rules that are gone, on the source's clock. */
const LOOK_MS = 1_000

const failure = (code: string, what: string, why: string, next: string): Failure => ({
  code,
  what,
  why,
  unaffected: 'Nothing was sent; what is staged stays.',
  next,
})

const tooMany = (what: string): Failure =>
  failure('TOO_MANY', what, `at most ${STAGED_MAX} changes are staged`, 'Review what is staged first.')

export class RuleDesk {
  readonly monitor: ClusterMonitor
  readonly staged = new StagedChanges()
  readonly rules = new OperatorRules()
  #changes: readonly PastChange[] = []
  readonly #plans: Readonly<Record<ServiceName, Paced<DeskPlan>>> = {
    ost_io: new Paced(100),
    mdt: new Paced(100),
    mdt_readpage: new Paced(100),
  }
  #isCommitting = false
  /** Commits so far: after one, plans are made anew. */
  #sent = 0
  #lookedMs = 0

  constructor(monitor: ClusterMonitor) {
    this.monitor = monitor
    monitor.onChange(() => this.#look())
  }

  /** Forgets the terms of rules that are no longer there. */
  #look(): void {
    const { monitor } = this
    const nowMs = monitor.nowMs()
    if (nowMs - this.#lookedMs < LOOK_MS) return
    this.#lookedMs = nowMs
    const names = new Map<string, Set<string>>()
    this.rules.forgetGone(nowMs, ({ service, host, queue, name }) => {
      const reading = monitor.missing.has(host) ? undefined : monitor.serviceReading(host, service)
      if (!reading) return undefined
      const place = placeOf(host, service)
      let of = names.get(place)
      if (!of) names.set(place, (of = new Set(reading.rules.map((r) => `${r.queue} ${r.name}`))))
      return of.has(`${queue} ${name}`)
    })
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
    return this.#plans[service].get(`${this.staged.version} ${this.#sent}`, () =>
      this.#planOn(service, this.servers(service)),
    )
  }

  #planOn(service: ServiceName, servers: readonly ServerRules[]): DeskPlan {
    return planStaged(service, this.staged.of(service), servers, this.rules)
  }

  /** Stages a change. Failures: DRAFT_FAULTY (the draft has a fault), TOO_MANY. */
  stage(service: ServiceName, form: RuleForm, terms: ChangeTerms, replaces?: string): Result<string> {
    const { command, faults } = diagnoseDraft(
      this.servers(service),
      this.othersThan(service, form, replaces),
      valueOfForm(form),
    )
    if (!command || faults[0]) {
      return fail(
        failure(
          'DRAFT_FAULTY',
          `${form.name === '' ? 'The rule' : form.name} was not staged`,
          faults[0]?.message ?? 'it cannot be read',
          'Correct it and stage it again.',
        ),
      )
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
    this.staged.remove(service, id)
    this.monitor.changed()
  }

  /** What the operator types to commit: the one rule that is staged, else the cluster. */
  typedTarget(service: ServiceName): string {
    const names = new Set(this.staged.of(service).map((s) => s.edit.name))
    const [only] = names
    return names.size === 1 && only !== undefined ? only : this.monitor.source.cluster
  }

  /** Why a plan cannot be committed now; undefined when it can. */
  refusal(service: ServiceName, plan: DeskPlan): Failure | undefined {
    const { monitor } = this
    if (monitor.loop.mode !== 'enforce') {
      return failure(
        'MODE',
        'The change cannot be sent',
        `the mode is ${monitor.loop.mode}`,
        'Choose Enforce, then review again.',
      )
    }
    if (this.#isCommitting)
      return failure('BUSY', 'The change cannot be sent', 'another one is being sent', 'Wait for its end.')
    const missing = monitor.serversOf(service).filter((h) => monitor.missing.has(h) || !monitor.reading(h))
    if (missing.length > 0) {
      return failure(
        'SERVER_MISSING',
        'The change cannot be sent',
        `${missing.join(', ')} does not answer`,
        'Wait until every server answers.',
      )
    }
    const blind = plan.changes.filter(({ found }) => {
      return found.rules.length === 0 && QUEUES.some((q) => found.tbf[q] !== undefined)
    })
    if (blind.length > 0) {
      return failure(
        'RULES_UNREADABLE',
        'The change cannot be sent',
        `${blind.map((c) => c.plan.server).join(', ')} runs TBF and does not show its rules`,
        'Servers show them only while both queues run TBF: run it on reg and hp.',
      )
    }
    const refused = plan.changes.flatMap((c) => c.plan.refused)[0]
    if (refused) {
      const hosts = plan.changes.filter((c) => c.plan.refused.some((r) => r.text === refused.text))
      const where = hosts.length === plan.changes.length ? '' : ` (${hosts.map((c) => c.plan.server).join(', ')})`
      const why = `${refused.text}${where}`
      return failure('EDIT_REFUSED', 'The change cannot be sent', why, 'Take the change back or correct it.')
    }
    if (!plan.changes.some(isWork)) {
      return failure(
        'NO_CHANGE',
        'There is nothing to send',
        'every server is as the changes want it',
        'Take the changes back.',
      )
    }
    return undefined
  }

  /** Sends the reviewed plan. Failures: those of `refusal`, NOT_TYPED, PLAN_CHANGED, NOT_ON_RECORD. */
  async commit(
    service: ServiceName,
    planId: string,
    typed: string,
  ): Promise<Result<{ changeId: string; nodes: NodeEnd[] }>> {
    const refused = this.refusal(service, this.plan(service))
    if (refused) return fail(refused)
    if (typed !== this.typedTarget(service)) {
      return fail(
        failure(
          'NOT_TYPED',
          'The change was not sent',
          'what was typed is not the target',
          'Type the target as shown.',
        ),
      )
    }
    this.#isCommitting = true
    try {
      return await this.#commitFresh(service, planId)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return fail({
        code: 'NOT_ON_RECORD',
        what: 'The change was not sent everywhere',
        why,
        next: 'Free space for the history; look at the rules before trying again.',
      })
    } finally {
      this.#isCommitting = false
      this.#sent++
      this.monitor.changed()
    }
  }

  async #commitFresh(service: ServiceName, planId: string): Promise<Result<{ changeId: string; nodes: NodeEnd[] }>> {
    const { monitor } = this
    const now = await Promise.all(
      this.servers(service).map(async (s) => {
        const node = monitor.node(s.server)
        return node ? readServer(node, SERVICES[service], s) : undefined
      }),
    )
    const plan = this.#planOn(
      service,
      now.filter((s) => s !== undefined),
    )
    if (plan.planId !== planId) {
      return fail(
        failure(
          'PLAN_CHANGED',
          'The change was not sent',
          'the servers, or what is staged, changed since the review',
          'Look at the review again; it shows the new commands.',
        ),
      )
    }
    const changes = plan.changes.filter(isWork)
    const atMs = monitor.nowMs()
    const changeId = randomBytes(4).toString('hex')
    const why = whyOf(plan)
    // Why is on record, too, before anything is sent.
    const text = `change ${changeId}: ${why.title}; reason: ${why.reason}`
    monitor.audit.write(atMs, monitor.source.cluster, 'mode', text)
    const nodes = await commitChange(SERVICES[service], changes, {
      nodeOf: (h) => monitor.node(h),
      audit: monitor.audit,
      nowMs: () => monitor.nowMs(),
      mayGoOn: () => monitor.loop.mode === 'enforce',
    })
    const past = pastChange(service, plan, this.rules, { id: changeId, atMs, ...why, nodes })
    for (const end of nodes) settleTerms(plan, end, this.rules, atMs)
    this.#changes = [past, ...this.#changes].slice(0, CHANGES_KEPT)
    const done = nodes.filter((n) => n.state === 'done').map((n) => n.host)
    const isDone = done.length === nodes.length
    if (isDone) this.#end(service, plan)
    else this.staged.sent(new Set(plan.staged.map((s) => s.id)), done)
    const where = `${done.length} of ${nodes.length} servers`
    const level = isDone ? 'ok' : 'bad'
    monitor.events.add({ atMs, kind: 'change', level, subject: 'Rule', text: why.title, where })
    return ok({ changeId, nodes })
  }

  /** What is through leaves the staged changes; what was staged meanwhile stays. */
  #end(service: ServiceName, { staged }: DeskPlan): void {
    for (const { id, undoes } of staged) {
      this.staged.remove(service, id)
      const past = this.#changes.find((c) => c.id === undoes)
      if (past) past.undone = true
    }
  }

  /** Stages what brings the rules of a change back. Failures: NO_SUCH_CHANGE, NOTHING_DONE, NOTHING_LEFT, TOO_MANY. */
  undo(changeId: string): Result<undefined> {
    const past = this.#changes.find((c) => c.id === changeId)
    const edits = past ? undoEdits(past.done, this.monitor.nowMs()) : []
    const refuse = (code: string, why: string): Result<undefined> =>
      fail(failure(code, 'The change cannot be undone', why, 'Edit the rules themselves.'))
    if (!past) return refuse('NO_SUCH_CHANGE', 'it is not among those remembered')
    if (past.done.size === 0) return refuse('NOTHING_DONE', 'it was not done on any server')
    if (edits.length === 0) return refuse('NOTHING_LEFT', 'it wrote no rule that would still stand')
    const { service, title } = past
    if (this.staged.of(service).length + edits.length > STAGED_MAX) return fail(tooMany('The change cannot be undone'))
    // What was staged for it before is staged anew.
    for (const s of this.staged.of(service)) if (s.undoes === changeId) this.staged.remove(service, s.id)
    for (const { edit, hosts, expiresS } of edits) {
      const put = this.#put(service, edit, { expiresS, reason: `undo of ${title}` }, { hosts, undoes: changeId })
      if (!put.ok) return put
    }
    return ok(undefined)
  }
}
