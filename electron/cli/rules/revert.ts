/** `sluice rules revert CHANGE_ID`: restores the rules, or the policies, from before a change, regardless of later changes. */
import type { Command } from 'commander'
import { randomBytes } from 'node:crypto'
import { fail, ok, type Result } from '#core/base/result.ts'
import type { EnforcementStore } from '../../enforce/store.ts'
import { pastOf } from '../../host/rules/change-record.ts'
import { formOfEdit } from '../../host/rules/draft.ts'
import type { PastChange } from '../../host/rules/past-change.ts'
import type { RuleService } from '../../host/rules/rule-service.ts'
import { undoEdits } from '../../host/rules/undo.ts'
import { flagsOf } from '../clusters-flags.ts'
import { codeOfMissing, openCluster, stopOpening, type OpenCluster } from '../live.ts'
import { EXIT, must, stopJson } from '../output.ts'
import { commandRules, exitOf, openStore, unlockFor } from './command-rules.ts'
import { sendStaged, type Sent } from './send.ts'

export interface RevertOptions {
  readonly json?: true
  readonly canary: number
  readonly yesLaptopBound?: true
}

const refused = (code: string, why: string, next: string): Result<never> =>
  fail({ code, what: 'The change was not reverted', why, unaffected: 'Nothing was sent.', next })

interface StoredChange {
  readonly cluster: string
  readonly past: PastChange
}

function storedChange(store: EnforcementStore, id: string): Result<StoredChange> {
  const stored = store.changes.find(id)
  const past = stored && pastOf(id, stored.atMs, stored.state, stored.document)
  if (!stored) return refused('NO_SUCH_CHANGE', `there is no change ${id}`, 'sluice rules list shows changes in force.')
  if (!past)
    return refused(
      'CHANGE_UNREADABLE',
      'it is from another release of Sluice',
      'sluice rules clean removes all rules managed by Sluice.',
    )
  return ok({ cluster: stored.cluster, past })
}

async function revertChange(
  cluster: OpenCluster,
  store: EnforcementStore,
  { past }: StoredChange,
  o: RevertOptions,
): Promise<Result<Sent>> {
  const { service } = past
  const ruleService = commandRules(cluster, store)
  const staged = past.policy ? ruleService.policies.undo(past, past.policy) : stageBack(ruleService, past, o)
  if (!staged.ok) return staged
  const unlocked = unlockFor(cluster)
  if (!unlocked.ok) return unlocked
  return sendStaged(cluster, ruleService, store, { service, planId: `revert of ${past.id}`, canaryS: o.canary })
}

/** Stages the edits that restore the rules. */
function stageBack(
  ruleService: RuleService,
  { id: undoes, service, title, done }: PastChange,
  o: RevertOptions,
): Result<undefined> {
  const nowMs = ruleService.monitor.nowMs()
  const edits = undoEdits(done, nowMs)
  if (done.size === 0) return refused('NOTHING_DONE', 'it was not applied on any server', 'There is nothing to do.')
  for (const { edit, hosts, expiresS } of edits) {
    const terms = { expiresS, reason: `revert of ${title}`, laptopBound: o.yesLaptopBound === true }
    const id = randomBytes(3).toString('hex')
    const head = { id, service, edit, form: formOfEdit(edit), terms, stagedMs: nowMs }
    ruleService.staged.put({ ...head, hosts, undoes, tries: 0, doneOn: [] })
  }
  if (edits.length === 0)
    return refused('NOTHING_LEFT', 'none of its rules would still be in force', 'There is nothing to do.')
  return ok(undefined)
}

export async function revert(id: string, options: RevertOptions, command: Command): Promise<void> {
  const { json } = options
  const flags = flagsOf(command)
  const store = must(openStore(flags))
  const stored = storedChange(store, id)
  if (!stored.ok) return stopJson(stored.error, json, EXIT.usage)
  const change = stored.value
  const state = store.changes.find(id)?.state ?? ''
  const opened = await openCluster(change.cluster, flags, { reconnects: false })
  if (!opened.ok) return stopOpening(opened.error, json)
  const cluster = opened.value
  const isClaimed = state !== 'undone' && store.changes.transition(id, state, 'undoing')
  const found = store.changes.find(id)?.state ?? 'gone'
  const taken =
    found === 'undone'
      ? refused('CHANGE_TAKEN', 'it was already reverted', 'There is nothing to do.')
      : refused('CHANGE_TAKEN', `its state is ${found}`, 'Check the rules.')
  const sent = isClaimed ? await revertChange(cluster, store, change, options) : taken
  const isDone = sent.ok && sent.value.code === EXIT.done
  if (isClaimed) store.changes.transition(id, 'undoing', isDone ? 'undone' : state)
  if (sent.ok) await sent.value.end(json)
  const isMissing = !sent.ok && sent.error.code === 'SERVER_MISSING'
  const code = isMissing ? codeOfMissing(cluster) : sent.ok ? EXIT.failed : exitOf(sent.error)
  await cluster.close()
  store.close()
  if (!sent.ok) stopJson(sent.error, json, code)
  process.exitCode = sent.value.code
}
