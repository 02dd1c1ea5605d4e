/**
 * Plan for an operator's staged edits on one server: the fewest commands in a safe order, their inverse, and the expected read-back.
 *
 * Rules of other owners are touched only if an edit names them; `default` is never stopped. Source: spec/lustre 1.2, 2.4; measured A10
 * (partial application), B1 (a change refills), B2 (a rank does not reclassify existing classes).
 */
import { shortHash } from '../base/hash.ts'
import type { Queue } from '../lustre/nrs-policies.ts'
import type { RuleLine } from '../lustre/nrs-tbf-rule.ts'
import type { Field } from '../tbf/request-key.ts'
import { LUSTRE_DEFAULTS } from '../tbf/rule-list.ts'
import { HELPER_PREFIX, isControllerRule, isHelperRule } from '../controllers/registry.ts'
import { checkEdit, queuesOf } from './edit-check.ts'
import { planList, type HelperRules, type Op } from './list-plan.ts'
import type { DiffLine } from './plan.ts'
import { diffOf, previewOf, type PreviewLine, type QueueDiffLine } from './plan-preview.ts'
import { disagreements, queueList } from './queue-list.ts'
import { applyEdits, type Item, type Refusal, type RuleEdit } from './rule-edit.ts'
import { withSelectors, type RuleCommandLine } from './selectors.ts'
import { listed } from './sentence.ts'
import { DEFAULT_RULE, QUEUES, typeOn, writtenRules, type ServerRules } from './server-rules.ts'
import { afterPlan } from './simulate.ts'

export type PlanNoteCode =
  | 'MATCH_ANEW' // a rule is started and stopped so that a new order takes effect
  | 'STAND_IN' // a rule is replaced under the same name while a temporary rule applies its limit
  | 'REALTIME_UNKNOWN' // the inverse starts a rule whose realtime flag is unknown
  | 'CPTS_DISAGREE' // the CPTs have different rules; the plan makes the rules that it touches equal
  | 'NOT_THERE' // a rule to be stopped does not exist
  | 'NO_CHANGE' // the edits change nothing

export interface PlanNote {
  readonly code: PlanNoteCode
  readonly text: string
}

export interface EditPlan {
  readonly server: string
  readonly commands: readonly RuleCommandLine[]
  /** Restores lists, conditions and rates exactly; to be sent in this order. */
  readonly inverse: readonly RuleCommandLine[]
  readonly diff: readonly (DiffLine & QueueDiffLine)[]
  /** Edits that a server would refuse, or that are impossible; they are left out of the plan. */
  readonly refused: readonly Refusal[]
  readonly notes: readonly PlanNote[]
  /** Initial burst, tokens: depth x classes of each rule with a changed rate, all CPTs and queues. */
  readonly refillTokens: number
  /** Every head as expected in the read-back, and before the plan: conditions as written; `ref` is the old value. */
  readonly expected: readonly RuleLine[]
  readonly before: readonly RuleLine[]
  /** Names of the rules that the plan writes. */
  readonly touched: readonly string[]
  /** Lists of CPT 0 after the plan, with changed and removed rules, per queue. */
  readonly preview: Readonly<Record<Queue, readonly PreviewLine[]>>
}

/** Helper rules of Sluice; removed by the end of the plan unless it is interrupted. */
const REMATCH_RULE = `${HELPER_PREFIX}rematch`
const temporaryName = (rule: string): string => `${HELPER_PREFIX}${shortHash(rule).slice(0, 7)}`

/** A condition that no request matches, by the first field of the type; behind all rules and at the rate of `default` anyway. */
const NOTHING = {
  jobid: 'jobid={sluice.matches.nothing}',
  nid: 'nid={255.255.255.255@tcp}',
  opcode: 'opcode={ost_quotactl}',
  uid: 'uid={4294967294}',
  gid: 'gid={4294967294}',
  projid: 'projid={4294967294}',
  nodemap: 'nodemap={default}',
} as const

/**
 * @param first  field of the TBF type.
 * @param list   the present rules: leftovers of an earlier plan keep their names.
 */
export function helpersFor(first: Field | undefined, list: readonly Item[]): HelperRules {
  const taken = new Set(list.map((i) => i.name))
  const free = (name: string, other: string): string => (taken.has(name) ? other : name)
  const rate = list.find((i) => i.name === DEFAULT_RULE)?.rate ?? LUSTRE_DEFAULTS.rate
  return {
    rematch: {
      name: free(REMATCH_RULE, `${REMATCH_RULE}2`),
      conditions: NOTHING[first ?? 'jobid'],
      rate,
    },
    temporaryName: (rule) => free(temporaryName(rule), temporaryName(`${rule} again`)),
  }
}

/** One queue before and after the edits. */
interface QueuePlan {
  readonly from: readonly Item[]
  readonly to: readonly Item[]
  readonly ops: readonly Op[]
  readonly inverse: readonly Op[]
  readonly refused: readonly Refusal[]
}

const EMPTY: QueuePlan = { from: [], to: [], ops: [], inverse: [], refused: [] }

function planQueue(
  server: ServerRules,
  rules: readonly RuleLine[],
  queue: Queue,
  edits: readonly Indexed[],
  namesNone: boolean,
): QueuePlan {
  const type = typeOn(server, queue)
  if (!type) return EMPTY
  const from = queueList(rules, queue, server.realtime)
  const ofQueue = edits.filter(({ edit }) => queuesOf(edit, server.hp).includes(queue))
  const { list: to, refused, ranked } = applyEdits(from, ofQueue, !namesNone)
  const [first] = type.fields
  const ops = planList(from, to, ranked, { ...helpersFor(first, from), namesNone })
  return { from, to, refused, ops, inverse: planList(to, from, ranked, helpersFor(first, to)) }
}

interface Indexed {
  readonly edit: RuleEdit
  readonly index: number
}

/** Note that the inverse must start rules whose realtime flag is unknown. */
export const realtimeUnknownNote = (names: readonly string[]): string =>
  `Servers do not report whether ${listed(names)} ${names.length === 1 ? 'was' : 'were'} realtime: the rollback starts ${names.length === 1 ? 'it' : 'them'} without realtime.`

/** Rules restarted by the inverse whose realtime flag cannot be read. */
function restartedUnknown({ from, to }: QueuePlan): string[] {
  const remaining = new Set(to.map((i) => i.id))
  return from.filter((i) => !remaining.has(i.id) && i.realtime === undefined).map((i) => i.name)
}

function notesOf(
  server: ServerRules,
  rules: readonly RuleLine[],
  plans: readonly QueuePlan[],
  edits: readonly Indexed[],
): PlanNote[] {
  const notes: PlanNote[] = []
  const ops = plans.flatMap((p) => p.ops)
  const add = (code: PlanNoteCode, text: string): void => void notes.push({ code, text })
  const rematch = ops.find((o) => o.step === 'match again')?.name
  if (rematch !== undefined) {
    add(
      'MATCH_ANEW',
      `Reordering alone does not reclassify existing TBF classes; ${rematch}, a rule that matches nothing, is started and stopped to force it.`,
    )
  }
  const swapped = [...new Set(ops.filter((o) => o.step === 'swap' && o.verb === 'start').map((o) => o.name))]
  for (const name of swapped) {
    add(
      'STAND_IN',
      `${name} is replaced under the same name: ${temporaryName(name)} applies the new limit while ${name} is stopped.`,
    )
  }
  const unknown = [...new Set(plans.flatMap(restartedUnknown))]
  if (unknown.length > 0) add('REALTIME_UNKNOWN', realtimeUnknownNote(unknown))
  const uneven = QUEUES.flatMap((q) => disagreements(rules, q))
  if (uneven.length > 0) {
    add(
      'CPTS_DISAGREE',
      `On ${server.server} ${uneven.map((u) => u.text).join('; ')}. The rollback does not restore that.`,
    )
  }
  for (const { edit } of edits) {
    if (edit.verb !== 'stop' || plans.some((p) => [...p.from, ...p.to].some((i) => i.name === edit.name))) continue
    if (edits.some((e) => e.edit.verb === 'start' && e.edit.name === edit.name)) continue
    add('NOT_THERE', `${edit.name} is not on ${server.server}.`)
  }
  if (ops.length === 0) add('NO_CHANGE', `Nothing changes on ${server.server}.`)
  return notes
}

function refillTokens(commands: readonly RuleCommandLine[], rules: readonly RuleLine[], depth: number): number {
  let tokens = 0
  for (const c of commands.filter((x) => x.refills)) {
    for (const r of rules)
      if (r.name === c.rule && (c.queue === 'both' || c.queue === r.queue)) tokens += depth * Math.max(0, r.ref)
  }
  return tokens
}

/** Merges the refusals of both queues: an edit refused by one queue is refused. */
function mergeRefusals(all: readonly Refusal[]): Refusal[] {
  const seen = new Map<number, Refusal>()
  for (const r of all) if (!seen.has(r.edit)) seen.set(r.edit, r)
  return [...seen.values()].sort((a, b) => a.edit - b.edit)
}

/**
 * Plans staged edits on one server.
 *
 * Edits are combined: those that cancel out are not sent, nor is a change to the current value, because every change fills the buckets of
 * the rule's classes. An edit that a server would refuse is left out on both queues and reported.
 */
export function planEdits(server: ServerRules, edits: readonly RuleEdit[]): EditPlan {
  const rules = writtenRules(server)
  // A controller may stop its rules at any time: a plan that names one may be invalid when it is sent.
  const namesNone = rules.some((r) => isControllerRule(r.name))
  const planAll = (): QueuePlan[] => QUEUES.map((q) => planQueue(server, rules, q, taken, namesNone))
  const refused: Refusal[] = []
  let taken: Indexed[] = []
  edits.forEach((edit, index) => {
    const checked = checkEdit(edit, server)
    if (checked.ok) taken.push({ edit: checked.value, index })
    else refused.push({ edit: index, ...checked.error })
  })
  let plans = planAll()
  for (let found = mergeRefusals(plans.flatMap((p) => p.refused)); found.length > 0;) {
    refused.push(...found)
    taken = taken.filter((t) => !found.some((r) => r.edit === t.index))
    plans = planAll()
    found = mergeRefusals(plans.flatMap((p) => p.refused))
  }
  const [reg, hp] = plans as [QueuePlan, QueuePlan]
  const commands = withSelectors({ reg: reg.ops, hp: hp.ops }, server)
  const values = commands.map((c) => c.value)
  return {
    server: server.server,
    commands,
    inverse: withSelectors({ reg: reg.inverse, hp: hp.inverse }, server),
    diff: diffOf({ reg, hp }),
    refused: mergeRefusals(refused),
    notes: notesOf(server, rules, plans, taken),
    refillTokens: refillTokens(commands, rules, server.depth ?? LUSTRE_DEFAULTS.depth),
    expected: afterPlan(server, values),
    before: rules,
    touched: [...new Set(commands.map((c) => c.rule))].filter((name) => !isHelperRule(name)),
    preview: { reg: previewOf(reg), hp: previewOf(hp) },
  }
}
