/**
 * `sluice rules apply PLAN_ID --target NAME`: sends a stored plan. One process at a time can take a plan; it is recomputed on the
 * current servers and refused with the differences if the result is another plan.
 */
import type { Command } from 'commander'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import { planDifferences } from '../../host/rules/shown-plans.ts'
import type { StagedChange } from '../../host/rules/staged-changes.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import { flagsOf } from '../clusters-flags.ts'
import { codeOfMissing, openCluster, stopOpening, type OpenCluster } from '../live.ts'
import { EXIT, must, stopJson } from '../output.ts'
import { commandRules, exitOf, openStore, unlockFor } from './command-rules.ts'
import { readPlanDocument, stagedOf, toCompare, type PlanDocument } from './documents.ts'
import { sendStaged, type Sent } from './send.ts'

export interface ApplyOptions {
  readonly json?: true
  readonly target: string
  readonly expire?: number
  readonly reason?: string
  readonly canary: number
  readonly over24h?: true
  readonly yesLaptopBound?: true
}

const DAY_S = 86_400

const AGAIN = 'Plan again, and review it.'
const refused = (code: string, why: string, next: string): { readonly ok: false; readonly error: Failure } =>
  fail({ code, what: 'The plan was not applied', why, unaffected: 'Nothing was sent.', next })

interface StoredPlan {
  readonly cluster: string
  readonly document: PlanDocument
}

function storedPlan(store: EnforcementStore, id: string): Result<StoredPlan> {
  const stored = store.plans.find(id)
  const document = stored && readPlanDocument(stored.document)
  if (!stored) return refused('NO_SUCH_PLAN', `there is no plan ${id}`, 'Create one: sluice rules plan.')
  if (!document) {
    const why = 'it is a plan of a policy, or from another release of Sluice'
    return refused('PLAN_UNREADABLE', why, 'For a policy: sluice policy apply. Otherwise plan again.')
  }
  return ok({ cluster: stored.cluster, document })
}

/** Accepted target names: the cluster, or the only rule or the only job of the plan. */
function targetsOf(cluster: string, typed: string, { staged }: PlanDocument): string[] {
  const starts = staged.flatMap(({ edit }) => (edit.verb === 'start' ? [edit.conditions] : []))
  const job = starts.length === 1 ? /^jobid=\{([^{}\s,]+)\}$/.exec(starts[0] ?? '')?.[1] : undefined
  return [cluster, typed, ...(job === undefined ? [] : [job])]
}

/** Applies the terms of this command over those of the plan. */
function withTerms(change: StagedChange, o: ApplyOptions): StagedChange {
  const { terms, edit } = change
  const expiresS = edit.verb === 'start' ? (o.expire ?? terms.expiresS) : terms.expiresS
  return {
    ...change,
    terms: { ...terms, expiresS, reason: o.reason ?? terms.reason, laptopBound: o.yesLaptopBound === true },
  }
}

/** Checks the options against the plan; undefined if they are valid. */
function optionFault({ cluster, document }: StoredPlan, o: ApplyOptions): Failure | undefined {
  if (!targetsOf(cluster, document.typed, document).includes(o.target)) {
    return refused('NOT_TYPED', `--target ${o.target} does not match the plan`, `Type --target ${document.typed}.`)
      .error
  }
  const longest = Math.max(0, ...stagedOf(document).map((s) => withTerms(s, o).terms.expiresS ?? 0))
  if (longest <= DAY_S || o.over24h) return undefined
  return refused('TOO_LONG', 'a rule would last more than 24 h', 'Confirm with --over-24h.').error
}

/** Recomputes the plan on the current servers; refused with the differences. */
function replanned(
  ruleService: RuleService,
  { document }: StoredPlan,
  id: string,
): Result<undefined, Failure & { changed: string[] }> {
  for (const s of stagedOf(document)) ruleService.staged.put(s)
  const now = ruleService.plan(document.service)
  if (now.planId === id) return ok(undefined)
  const changed = planDifferences(toCompare(document), now, (host) => ruleService.silentText(host))
  const { error } = refused('PLAN_CHANGED', `the servers changed since the plan: ${changed.join('; ')}`, AGAIN)
  return fail({ ...error, changed })
}

async function send(
  cluster: OpenCluster,
  store: EnforcementStore,
  stored: StoredPlan,
  id: string,
  o: ApplyOptions,
): Promise<Result<Sent>> {
  const { service } = stored.document
  const ruleService = commandRules(cluster, store)
  const same = replanned(ruleService, stored, id)
  if (!same.ok) return same
  for (const s of stagedOf(stored.document)) ruleService.staged.put(withTerms(s, o), s.id)
  const unlocked = unlockFor(cluster)
  if (!unlocked.ok) return unlocked
  return sendStaged(cluster, ruleService, store, { service, planId: id, canaryS: o.canary })
}

export async function apply(id: string, options: ApplyOptions, command: Command): Promise<void> {
  const { json } = options
  const flags = flagsOf(command)
  const store = must(openStore(flags))
  const stored = storedPlan(store, id)
  if (!stored.ok) return stopJson(stored.error, json, EXIT.usage)
  const fault = optionFault(stored.value, options)
  if (fault) return stopJson(fault, json, EXIT.failed)
  const opened = await openCluster(stored.value.cluster, flags, { reconnects: false })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const isClaimed = store.plans.transition(id, 'planned', 'applying')
  const state = store.plans.find(id)?.state
  const taken = refused('PLAN_TAKEN', `its state is ${state}`, 'Plan again.')
  const sent = isClaimed ? await send(cluster, store, stored.value, id, options) : taken
  if (isClaimed) store.plans.transition(id, 'applying', sent.ok ? 'applied' : 'planned')
  if (sent.ok) await sent.value.end(json)
  const isMissing = !sent.ok && sent.error.code === 'SERVER_MISSING'
  const code = isMissing ? codeOfMissing(cluster) : sent.ok ? EXIT.failed : exitOf(sent.error)
  await cluster.close()
  store.close()
  if (!sent.ok) stopJson(sent.error, json, code)
  process.exitCode = sent.value.code
}
