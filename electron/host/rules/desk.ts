/**
 * Where rules are edited: drafts are checked, changes staged, planned for every server and committed after review. One desk a
 * cluster, shared by all of its windows.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { NodeEnd, RuleForm, ServiceName } from '#core/api/rule-edits.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { planEdits, type EditPlan } from '#core/control/edit-plan.ts'
import type { RuleEdit } from '#core/control/rule-edit.ts'
import type { ServerRules } from '#core/control/server-rules.ts'
import { LUSTRE_DEFAULTS } from '#core/tbf/rule-list.ts'
import type { ClusterMonitor } from '../../cluster/monitor.ts'
import { SERVICES } from '../../cluster/service.ts'
import {
  commandsOf,
  commitChange,
  inverseOf,
  readServer,
  type ExpiryTimer,
  type ServerChange,
} from '../../enforce/change.ts'
import { diagnoseDraft } from './diagnosis.ts'
import { editOfCommand, formOfEdit, valueOfForm } from './draft.ts'
import { OperatorRules } from './operator-rules.ts'
import { Paced } from './paced.ts'
import { presentServers } from './servers.ts'
import { STAGED_MAX, StagedChanges, type ChangeTerms, type StagedChange } from './staged-changes.ts'
import { undoEdits, type DoneOn } from './undo.ts'

/** Committed changes that are remembered. */
const CHANGES_KEPT = 20

/** A change that was sent, and what came of it. */
export interface PastChange {
  readonly id: string
  readonly service: ServiceName
  readonly atMs: number
  readonly title: string
  readonly reason: string
  readonly nodes: readonly NodeEnd[]
  /** Literal commands of the first server. */
  readonly inverse: readonly string[]
  readonly expiresMs: number | null
  readonly done: DoneOn | undefined
  undone: boolean
}

/** The staged changes of a service as they would be sent now. */
export interface DeskPlan {
  readonly staged: readonly StagedChange[]
  readonly changes: readonly ServerChange[]
  /** Names exactly these commands on these servers. */
  readonly planId: string
}

const failure = (code: string, what: string, why: string, next: string): Failure => ({
  code,
  what,
  why,
  unaffected: 'Nothing was sent; what is staged stays.',
  next,
})

const verbOf = (e: RuleEdit): string => `${e.verb} ${e.name}`

export class RuleDesk {
  readonly monitor: ClusterMonitor
  readonly staged = new StagedChanges()
  readonly rules = new OperatorRules()
  #changes: readonly PastChange[] = []
  readonly #plans: Readonly<Record<ServiceName, Paced<DeskPlan>>> = { ost_io: new Paced(100), mdt: new Paced(100) }
  #isCommitting = false
  /** Commits so far: after one, plans are made anew. */
  #sent = 0

  constructor(monitor: ClusterMonitor) {
    this.monitor = monitor
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
    const staged = this.staged.of(service)
    const edits = staged.map((s) => s.edit)
    const changes = servers.map((found) => this.#changeOf(service, staged, found, planEdits(found, edits)))
    const commands = changes.map((c) => [c.plan.server, commandsOf(SERVICES[service], c)])
    const planId = createHash('sha256')
      .update(JSON.stringify([service, commands]))
      .digest('hex')
      .slice(0, 16)
    return { staged, changes, planId }
  }

  #changeOf(service: ServiceName, staged: readonly StagedChange[], found: ServerRules, plan: EditPlan): ServerChange {
    const started = new Set(plan.commands.filter((c) => c.verb === 'start').map((c) => c.rule))
    const timers: ExpiryTimer[] = staged.flatMap(({ id, edit, terms }) => {
      if (edit.verb !== 'start' || terms.expiresS === null || !started.has(edit.name)) return []
      const selector = edit.queue === 'both' ? '' : `${edit.queue} `
      return [{ unit: `sluice-${id}`, rule: edit.name, value: `${selector}stop ${edit.name}`, seconds: terms.expiresS }]
    })
    // What stops a rule, or starts it anew, ends the timer that would have stopped it.
    const names = new Set(plan.commands.filter((c) => c.verb !== 'change').map((c) => c.rule))
    const endTimers = [...names].flatMap((name) => {
      const unit = this.rules.find(service, plan.server, name)?.timer?.unit
      return unit === undefined ? [] : [unit]
    })
    return { plan, found, timers, endTimers }
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
    return this.#put(service, editOfCommand(command, LUSTRE_DEFAULTS.rate), terms, replaces)
  }

  /** Staged changes that a draft stands beside: not the one that it replaces. */
  othersThan(service: ServiceName, form: RuleForm, replaces?: string): readonly StagedChange[] {
    return this.staged
      .of(service)
      .filter(({ id, edit }) => id !== replaces && !(edit.name === form.name && edit.verb === form.verb))
  }

  #put(service: ServiceName, edit: RuleEdit, terms: ChangeTerms, replaces?: string): Result<string> {
    if (this.staged.of(service).length >= STAGED_MAX) {
      return fail(
        failure(
          'TOO_MANY',
          `${edit.name} was not staged`,
          `${STAGED_MAX} changes are staged`,
          'Review what is staged first.',
        ),
      )
    }
    const id = randomBytes(3).toString('hex')
    this.staged.put({ id, service, edit, form: formOfEdit(edit), terms, stagedMs: this.monitor.nowMs() }, replaces)
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
    const refused = plan.changes.flatMap((c) => c.plan.refused)[0]
    if (refused) {
      return failure('EDIT_REFUSED', 'The change cannot be sent', refused.text, 'Take the change back or correct it.')
    }
    if (plan.changes.every((c) => c.plan.commands.length === 0)) {
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
    const changes = plan.changes.filter((c) => c.plan.commands.length > 0)
    const atMs = monitor.nowMs()
    const nodes = await commitChange(
      SERVICES[service],
      changes,
      (h) => monitor.node(h),
      monitor.audit,
      () => monitor.nowMs(),
    )
    const changeId = randomBytes(4).toString('hex')
    for (const end of nodes) if (end.state === 'done') this.#settle(service, plan, end.host, atMs)
    this.#remember(service, changeId, plan, nodes, atMs)
    if (nodes.every((n) => n.state === 'done')) this.staged.remove(service, null)
    return ok({ changeId, nodes })
  }

  /** Notes whose rules stand on a server after a change is done there. */
  #settle(service: ServiceName, { staged, changes }: DeskPlan, host: string, atMs: number): void {
    const change = changes.find((c) => c.plan.server === host)
    for (const c of change?.plan.commands ?? []) {
      const of = staged.find((s) => s.edit.verb === 'start' && s.edit.name === c.rule)
      if (c.verb === 'stop') this.rules.forget(service, host, c.rule)
      if (c.verb !== 'start' || of?.edit.verb !== 'start') continue
      const unit = change?.timers.find((t) => t.rule === c.rule)
      this.rules.keep(service, host, c.rule, {
        reason: of.terms.reason,
        createdMs: atMs,
        timer: unit && { unit: unit.unit, expiresMs: atMs + unit.seconds * 1000 },
        realtime: of.edit.realtime ?? false,
      })
    }
  }

  #remember(service: ServiceName, id: string, plan: DeskPlan, nodes: readonly NodeEnd[], atMs: number): void {
    const first = plan.changes.find((c) => nodes.some((n) => n.host === c.plan.server && n.state === 'done'))
    const expiries = plan.changes.flatMap((c) => c.timers.map((t) => atMs + t.seconds * 1000))
    const title = plan.staged.map((s) => verbOf(s.edit)).join(', ')
    const state = nodes.every((n) => n.state === 'done') ? 'ok' : 'bad'
    const past: PastChange = {
      id,
      service,
      atMs,
      title,
      reason: [...new Set(plan.staged.map((s) => s.terms.reason).filter((r) => r !== ''))].join('; '),
      nodes,
      inverse: first ? inverseOf(SERVICES[service], first) : [],
      expiresMs: expiries.length === 0 ? null : Math.min(...expiries),
      done: first && {
        before: first.plan.before,
        expected: first.plan.expected,
        touched: first.plan.touched,
        realtime: first.found.realtime ?? new Map(),
      },
      undone: false,
    }
    this.#changes = [past, ...this.#changes].slice(0, CHANGES_KEPT)
    const where = `${nodes.filter((n) => n.state === 'done').length} of ${nodes.length} servers`
    this.monitor.events.add({ atMs, kind: 'change', level: state, subject: 'Rule', text: title, where })
  }

  /** Stages what brings the rules of a change back. Failures: NO_SUCH_CHANGE, NOTHING_DONE, TOO_MANY. */
  undo(changeId: string): Result<undefined> {
    const past = this.#changes.find((c) => c.id === changeId)
    if (!past?.done) {
      const why = past ? 'it was not done on any server' : 'it is not among those remembered'
      return fail(
        failure(
          past ? 'NOTHING_DONE' : 'NO_SUCH_CHANGE',
          'The change cannot be undone',
          why,
          'Edit the rules themselves.',
        ),
      )
    }
    const terms = { expiresS: null, reason: `undo of ${past.title}` }
    for (const edit of undoEdits(past.done)) {
      const put = this.#put(past.service, edit, terms)
      if (!put.ok) return put
    }
    past.undone = true
    return ok(undefined)
  }
}
