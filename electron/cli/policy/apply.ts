/**
 * `sluice policy apply PLAN_ID --target NAME`: sends a stored plan. One process at a time can take a plan; it is recomputed on the
 * current servers and refused with the differences if the result is another plan. Controllers are not involved.
 */
import type { Command } from 'commander'
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import { namedDifferences, serverDifferences } from '../../host/rules/shown-plans.ts'
import { flagsOf } from '../clusters-flags.ts'
import { codeOfMissing, openCluster, stopOpening, type OpenCluster } from '../live.ts'
import { EXIT, must, stopJson } from '../output.ts'
import { commandRules, openStore, unlockFor } from '../rules/command-rules.ts'
import { serverThen } from '../rules/documents.ts'
import { sendStaged, type Sent } from '../rules/send.ts'
import { readPolicyDocument, stagePolicy, type PolicyDocument } from './plan.ts'

export interface ApplyOptions {
  readonly json?: true
  readonly target: string
  readonly reason?: string
  readonly canary: number
}

const refused = (code: string, why: string, next: string): { readonly ok: false; readonly error: Failure } =>
  fail({ code, what: 'The plan was not applied', why, unaffected: 'Nothing was sent.', next })

interface StoredPlan {
  readonly cluster: string
  readonly document: PolicyDocument
}

function storedPlan(store: EnforcementStore, id: string): Result<StoredPlan> {
  const stored = store.plans.find(id)
  if (!stored) return refused('NO_SUCH_PLAN', `there is no plan ${id}`, 'Create one: sluice policy plan.')
  const document = readPolicyDocument(stored.document)
  if (document) return ok({ cluster: stored.cluster, document })
  const why = 'it is a plan of rules, or from another release of Sluice'
  return refused('PLAN_UNREADABLE', why, 'For rules: sluice rules apply. Otherwise plan again.')
}

async function send(
  cluster: OpenCluster,
  store: EnforcementStore,
  { document }: StoredPlan,
  id: string,
  o: ApplyOptions,
): Promise<Result<Sent>> {
  const { service } = document
  const ruleService = commandRules(cluster, store)
  const staged = stagePolicy(ruleService, { ...document, reason: o.reason ?? document.reason })
  if (!staged.ok) return staged
  if (staged.value.planId !== id) {
    const differences = serverDifferences(document.servers.map(serverThen), staged.value.servers, (host) =>
      ruleService.silentText(host),
    )
    const changed = namedDifferences(differences.length > 0 ? differences : ['other commands are needed now'])
    const why = `the servers changed since the plan: ${changed.join('; ')}`
    const { error } = refused('PLAN_CHANGED', why, 'Plan again, and review it.')
    return fail({ ...error, changed })
  }
  const unlocked = unlockFor(cluster)
  if (!unlocked.ok) return unlocked
  return sendStaged(cluster, ruleService, store, { service, planId: id, canaryS: o.canary })
}

export async function apply(id: string, options: ApplyOptions, command: Command): Promise<void> {
  const { json, target } = options
  const flags = flagsOf(command)
  const store = must(openStore(flags))
  const stored = storedPlan(store, id)
  if (!stored.ok) return stopJson(stored.error, json, EXIT.usage)
  const { typed } = stored.value.document
  if (target !== typed) {
    const { error } = refused('NOT_TYPED', `--target ${target} does not match the plan`, `Type --target ${typed}.`)
    return stopJson(error, json, EXIT.failed)
  }
  const opened = await openCluster(stored.value.cluster, flags, { reconnects: false })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const isClaimed = store.plans.transition(id, 'planned', 'applying')
  const taken = refused('PLAN_TAKEN', `its state is ${store.plans.find(id)?.state}`, 'Plan again.')
  const sent = isClaimed ? await send(cluster, store, stored.value, id, options) : taken
  if (isClaimed) store.plans.transition(id, 'applying', sent.ok ? 'applied' : 'planned')
  if (sent.ok) await sent.value.end(json)
  const isMissing = !sent.ok && sent.error.code === 'SERVER_MISSING'
  const code = isMissing ? codeOfMissing(cluster) : EXIT.failed
  await cluster.close()
  store.close()
  if (!sent.ok) stopJson(sent.error, json, code)
  process.exitCode = sent.value.code
}
