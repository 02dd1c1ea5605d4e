/** Rules of every server at a sample, and the rule that each job matches. */
import { Binder } from '#core/control/binding.ts'
import { parseNrsTbfRule, type RuleLine } from '#core/lustre/nrs-tbf-rule.ts'
import { RuleMatcher, writtenLines } from '../../cluster/state/rule-matcher.ts'
import type { RulesRead, ClusterView } from '../../cluster/cluster-view.ts'

/** Finds the rule of a job on one server: its index in the list; -1 if only `default` matches. */
interface Finder {
  readonly find: (jobId: string) => number
  /** Jobs that can match a rule; undefined: any job can. */
  readonly ids: readonly string[] | undefined
}

/** Parsed conditions are kept across samples; those of one text as long as the text. */
const matcher = new RuleMatcher()
const lines = new WeakMap<RulesRead, readonly RuleLine[]>()
/** Finders by list, or by the shared part of lists that differ in rates only. */
const finders = new WeakMap<object, Finder>()
const shapes = new WeakMap<readonly RuleLine[], object>()

/** Rules of one server as written, each with its field. */
export function linesOf(read: RulesRead | undefined): readonly RuleLine[] {
  if (!read) return []
  let known = lines.get(read)
  if (!known) {
    known = writtenLines(read.lines ?? parseNrsTbfRule(read.text).rules, read.policy)
    lines.set(read, known)
    if (read.shape) shapes.set(known, read.shape)
  }
  return known
}

/** Rules of every server at a sample, parsed. */
export function rulesAt(viewed: ClusterView, sample: number): Map<string, readonly RuleLine[]> {
  return new Map(viewed.servers.map((host) => [host, linesOf(viewed.recent.rulesAt(host, sample))]))
}

function finderOf(list: readonly RuleLine[]): Finder {
  const shape = shapes.get(list) ?? list
  let finder = finders.get(shape)
  if (!finder) {
    const at = list.flatMap((r, i) => (r.queue === 'reg' && r.cpt === 0 ? [i] : []))
    const head = at.map((i) => list[i] as RuleLine)
    const type = { fields: [], isList: head.some((r) => r.conditions.startsWith('{')) }
    const rules = writtenLines(head, '').map(({ name, conditions }, k) => ({ name, conditions, at: at[k] as number }))
    const binder = new Binder(rules, type, matcher.shapes)
    const known = new Map<string, number>()
    const ruleAt = (jobId: string): number => binder.bind({ jobId }).sure?.at ?? -1
    const remembered = (jobId: string): number => {
      let found = known.get(jobId)
      if (found === undefined) known.set(jobId, (found = ruleAt(jobId)))
      return found
    }
    // If rules name jobs exactly, no search is needed.
    finder = { find: binder.ids ? ruleAt : remembered, ids: binder.ids && [...binder.ids] }
    finders.set(shape, finder)
  }
  return finder
}

/** Rule names of jobs, on the servers of one cluster. */
class Naming {
  readonly finders: readonly Finder[]
  /** Jobs that can match a rule; undefined: any job can. */
  readonly named: ReadonlySet<string> | undefined
  readonly names: string[] = []
  readonly #index = new Map<string, number>()
  readonly #columns = new WeakMap<readonly string[], Int32Array>()
  readonly #lists: readonly (readonly RuleLine[])[]

  constructor(finders: readonly Finder[], lists: readonly (readonly RuleLine[])[]) {
    this.finders = finders
    this.#lists = lists
    this.named = finders.every((s) => s.ids !== undefined) ? new Set(finders.flatMap((s) => s.ids ?? [])) : undefined
  }

  /** Index in `names` for each job; -1 for one without a rule. Returns the same array for the same list of jobs. */
  column(jobIds: readonly string[]): Int32Array {
    let column = this.#columns.get(jobIds)
    if (!column) {
      column = new Int32Array(jobIds.length)
      for (let i = 0; i < jobIds.length; i++) column[i] = this.#of(jobIds[i] as string)
      this.#columns.set(jobIds, column)
    }
    return column
  }

  #of(jobId: string): number {
    if (this.named?.has(jobId) === false) return -1
    for (let k = 0; k < this.finders.length; k++) {
      const at = (this.finders[k] as Finder).find(jobId)
      if (at < 0) continue
      const { name } = this.#lists[k]?.[at] as RuleLine
      let index = this.#index.get(name)
      if (index === undefined) this.#index.set(name, (index = this.names.push(name) - 1))
      return index
    }
    return -1
  }
}

/** Namings by the finder of their first server, kept across samples. */
const namings = new WeakMap<Finder, Naming[]>()
const NAMINGS = 4

function namingOf(finders: readonly Finder[], lists: readonly (readonly RuleLine[])[]): Naming {
  const first = finders[0]
  if (!first) return new Naming(finders, lists)
  const held = namings.get(first) ?? []
  const known = held.find((n) => n.finders.length === finders.length && n.finders.every((f, i) => f === finders[i]))
  if (known) return known
  const naming = new Naming(finders, lists)
  namings.set(first, [naming, ...held].slice(0, NAMINGS))
  return naming
}

export interface RuleLookup {
  /** Rule of a job: its name, and its rate summed over the servers that have it. */
  of(jobId: string): { readonly name: string; readonly rate: number } | undefined
  /** Index in `names` for each job; -1 for one without a rule. */
  column(jobIds: readonly string[]): Int32Array
  /** Distinct names met so far. */
  readonly names: readonly string[]
}

/**
 * Rule of each job.
 *
 * @complexity  O(servers) for a job that can match a rule, O(1) for any other.
 */
export function ruleLookup(rules: ReadonlyMap<string, readonly RuleLine[]>): RuleLookup {
  const lists = [...rules.values()]
  const servers = lists.map(finderOf)
  const naming = namingOf(servers, lists)
  return {
    names: naming.names,
    column: (jobIds) => naming.column(jobIds),
    of: (jobId) => {
      if (naming.named?.has(jobId) === false) return undefined
      let name: string | undefined
      let rate = 0
      for (let k = 0; k < servers.length; k++) {
        const r = lists[k]?.[(servers[k] as Finder).find(jobId)]
        if (!r) continue
        name ??= r.name
        rate += r.rate
      }
      return name === undefined ? undefined : { name, rate }
    },
  }
}
