/**
 * How what is staged is committed: one plan at a time, as it was reviewed, on servers that are read once more right before. What was
 * committed stands on the undo list, newest first, with the end of every server.
 */
import { randomBytes } from 'node:crypto'
import type { CommitProgress, NodeEnd, ServiceName } from '#core/api/rule-edits.ts'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { SERVICES } from '../../base/service.ts'
import { CANARY_S, commitChange, type CommitParts } from '../../enforce/change.ts'
import { lockCommits, type CommitLock } from '../../enforce/commit-lock.ts'
import { CommitRun } from './commit-run.ts'
import type { DeskCore, DeskOptions } from './desk-core.ts'
import { isWork, planStaged, settleTerms, type DeskChange, type DeskPlan } from './desk-plan.ts'
import { CUT_SHORT, type DeskRecord } from './desk-record.ts'
import { SampleGuard } from './guard-watch.ts'
import type { KeptPlans } from './kept-plans.ts'
import { pastChange, whyOf, type PastChange } from './past-change.ts'
import type { PolicyDesk } from './policy-desk.ts'
import { failure, isUndo, missingFor, planRefusal } from './refusal.ts'
import { silentText } from './servers.ts'

/** Committed changes that are remembered. */
const CHANGES_KEPT = 20

/** The desk whose staged changes are committed. */
export interface StagingDesk extends Pick<
  DeskCore,
  'monitor' | 'staged' | 'rules' | 'pending' | 'guard' | 'stopped' | 'readNow'
> {
  readonly options: DeskOptions
  readonly policies: PolicyDesk
  plan(service: ServiceName): DeskPlan
  refusal(service: ServiceName, plan: DeskPlan): Failure | undefined
  typedTarget(service: ServiceName): string
}

export interface CommitDeskParts {
  /** Plans that were shown. */
  readonly kept: KeptPlans
  /** Where the undo list is kept over a restart; memory only without. */
  readonly record: DeskRecord | undefined
}

/** How one commit is sent. */
export interface CommitOptions {
  /** Seconds that the first server is watched; the desk's own where it is not given. */
  readonly canaryS?: number | undefined
  /** The lock of commits, where the caller holds it and gives it back. */
  readonly lock?: CommitLock | undefined
  /** Puts the change on record before it is sent, where the desk keeps none. @throws when that is not possible. */
  readonly begin?: ((past: PastChange) => void) | undefined
}

export type Committed = Result<{ changeId: string; nodes: NodeEnd[] }>

export class CommitDesk {
  readonly #desk: StagingDesk
  readonly #kept: KeptPlans
  readonly #record: DeskRecord | undefined
  #changes: readonly PastChange[]
  #run: CommitRun | undefined
  /** While something is sent. */
  #lock: CommitLock | undefined
  #begin: CommitOptions['begin']
  #sent = 0

  constructor(desk: StagingDesk, { kept, record }: CommitDeskParts) {
    this.#desk = desk
    this.#kept = kept
    this.#record = record
    this.#changes = record?.load(desk.pending) ?? []
    this.#sayDamaged()
  }

  /** Changes that were committed, newest first. */
  get changes(): readonly PastChange[] {
    return this.#changes
  }

  /** Commits so far: after one, plans are made anew. */
  get sent(): number {
    return this.#sent
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

  /** Resolves when nothing is being sent. */
  async over(): Promise<void> {
    await this.#run?.over
  }

  /** Sends the reviewed plan. Failures: those of `refusal`, NOT_TYPED, PLAN_CHANGED, NOT_ON_RECORD. */
  async commit(
    service: ServiceName,
    planId: string,
    typed: string,
    { canaryS = this.#desk.options.canaryS ?? CANARY_S, lock, begin }: CommitOptions = {},
  ): Promise<Committed> {
    const { monitor, options, policies } = this.#desk
    const policy = policies.plan(service)
    const refused = policy ? policies.refusal(service, policy) : this.#desk.refusal(service, this.#desk.plan(service))
    if (refused) return fail(refused)
    if (typed !== this.#desk.typedTarget(service)) {
      const why = 'what was typed is not the target'
      return fail(failure('NOT_TYPED', 'The change was not sent', why, 'Type the target as shown.'))
    }
    // Another console, or a command, may be at work on the same cluster.
    const locked = lock ? ok(lock) : lockCommits(options.store, monitor.source.cluster)
    if (!locked.ok) return locked
    this.#lock = locked.value
    this.#begin = begin
    const run = (this.#run = new CommitRun(service, planId, () => monitor.changed()))
    try {
      return policy ? await policies.commit(run, policy.staged, canaryS) : await this.#commitFresh(run, canaryS)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      return fail({
        code: 'NOT_ON_RECORD',
        what: 'The change was not sent everywhere',
        why,
        next: 'Free space for the history; look at the rules before trying again.',
      })
    } finally {
      this.#lock = undefined
      this.#begin = undefined
      if (!lock) locked.value.release()
      run.end()
      this.#sent++
      monitor.changed()
    }
  }

  /** How a commit is sent. */
  sendingParts(canaryS: number, run?: CommitRun, changes: readonly DeskChange[] = []): CommitParts {
    const { monitor, options } = this.#desk
    return {
      nodeOf: (h) => monitor.node(h),
      audit: monitor.audit,
      nowMs: () => monitor.nowMs(),
      stop: () => this.#desk.guard()?.why ?? this.#desk.stopped()?.why ?? this.#lock?.lost()?.why,
      removesOnly: () => this.#desk.stopped() !== undefined,
      canaryS,
      ...options.sending,
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

  async #commitFresh(run: CommitRun, canaryS: number): Promise<Committed> {
    const { monitor, staged, rules } = this.#desk
    const { service, planId } = run
    const { now, factsOf } = await this.#desk.readNow(service)
    const plan = planStaged(service, staged.of(service), now, rules, factsOf)
    if (plan.planId !== planId) {
      const silent = (host: string): string | undefined => silentText(monitor, host)
      const differs = this.#kept.since(planId, plan, silent) ?? [
        'the servers, or what is staged, changed since the review',
      ]
      const next = 'Look at the review again; it shows the new commands.'
      return fail(failure('PLAN_CHANGED', 'The change was not sent', differs.join('; '), next))
    }
    const late = planRefusal(monitor, service, plan, this.#desk.guard())
    if (late) return fail(late)
    const changes = plan.changes.filter(isWork)
    const waiting = isUndo(plan) ? missingFor(monitor, service, plan) : []
    const atMs = monitor.nowMs()
    const changeId = randomBytes(4).toString('hex')
    const why = whyOf(plan)
    // Why is on record, too, before anything is sent.
    const text = `change ${changeId}, plan ${planId}: ${why.title}; reason: ${why.reason}`
    monitor.audit.write(atMs, monitor.source.cluster, 'mode', text)
    this.begin(
      pastChange(service, plan, rules, {
        id: changeId,
        atMs,
        ...why,
        nodes: changes.map((c) => ({ host: c.plan.server, state: 'unknown', detail: CUT_SHORT })),
      }),
    )
    this.#record?.before(plan, atMs)
    const ends = await commitChange(SERVICES[service], changes, this.sendingParts(canaryS, run, changes))
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
    this.remember(past)
    if (isDone) this.#end(service, plan, waiting.length > 0)
    else staged.sent(new Set(plan.staged.map((s) => s.id)), done)
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
    this.#desk.pending.put({ service, host, changeId, undoes, edits, why: 'the server does not answer' })
  }

  /** What is through leaves the staged changes; what was staged meanwhile stays. */
  #end(service: ServiceName, { staged }: DeskPlan, isWaiting: boolean): void {
    for (const { id, undoes } of staged) {
      this.#desk.staged.remove(service, id)
      const past = this.#changes.find((c) => c.id === undoes)
      if (past && !isWaiting) past.undone = true
      if (past) this.noteChange(past)
    }
  }

  /** A server of a commit turned out to be done after all: what is done everywhere is staged no longer. */
  doneLate({ service, stagedIds }: PastChange, host: string): void {
    const { monitor, staged } = this.#desk
    const ids = new Set(stagedIds)
    staged.sent(ids, [host])
    const hosts = monitor.serversOf(service)
    for (const s of staged.of(service)) {
      if (ids.has(s.id) && (s.hosts ?? hosts).every((h) => s.doneOn.includes(h))) staged.remove(service, s.id)
    }
  }

  /** Puts a change on record before it is sent. @throws when that is not possible. */
  begin(past: PastChange): void {
    this.#begin?.(past)
    this.#record?.begin(past)
  }

  /** Puts a committed change on the undo list. */
  remember(past: PastChange): void {
    this.#changes = [past, ...this.#changes].slice(0, CHANGES_KEPT)
    this.noteChange(past)
  }

  #sayDamaged(): void {
    const { monitor } = this.#desk
    for (const id of this.#record?.takeDamaged() ?? []) {
      const text = `change ${id} on record could not be read: it was set aside, and cannot be undone here`
      const atMs = monitor.nowMs()
      monitor.events.add({ atMs, kind: 'change', level: 'bad', subject: 'Rule', text, where: monitor.source.cluster })
    }
  }

  /** Keeps what is different about a change of the undo list. */
  noteChange(past: PastChange): void {
    try {
      this.#record?.keep(past, this.#desk.pending)
    } catch {
      // While the disk is full it is in memory only; on record it stays as it was begun, and is settled after a restart.
    }
  }

  /** Takes over what commands of the same data folder have noted meanwhile. */
  refresh(): void {
    if (!this.#record) return
    this.#record.refresh(this.#desk.rules)
    const known = new Set(this.#changes.map((c) => c.id))
    const others = this.#record.others(known)
    this.#sayDamaged()
    if (others.length === 0) return
    this.#changes = [...others, ...this.#changes].sort((a, b) => b.atMs - a.atMs).slice(0, CHANGES_KEPT)
  }
}
