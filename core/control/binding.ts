/**
 * Rule that a job's RPCs match: the first matching one in the list. job_stats contains little more about a job than its id, so a rule
 * with other conditions matches, does not match, or may match.
 */
import type { TbfType } from '../tbf/tbf-type.ts'
import { exactJobIds, shapeMatches, shapeOf, type KnownRequest, type Shape } from './condition-shape.ts'
import type { LiveJob } from './live-job.ts'
import { DEFAULT_RULE } from './server-rules.ts'

/** Fields of a rule that decide on matching. */
export interface MatchRule {
  readonly name: string
  /** Conditions in the form in which they are written. */
  readonly conditions: string
}

/** Rules of one kind of a job's RPCs. */
export interface Binding<R extends MatchRule> {
  /** First rule that certainly matches; undefined: only `default` remains. */
  readonly sure: R | undefined
  /** Rules before it that may match, in match order. */
  readonly may: readonly R[]
}

/** Most kinds of RPCs distinguished per job. */
const KINDS_MAX = 256
const NOWHERE: Binding<never> = { sure: undefined, may: [] }

/** A parsed condition, and the job ids that it names exactly. */
interface Taken {
  readonly shape: Shape | undefined
  readonly ids: readonly string[] | undefined
}

/** Cache of parsed conditions by type, because the same rules are evaluated repeatedly. */
export class ShapeCache {
  readonly #byType = new Map<string, Map<string, Taken>>()

  /** Returns the structures under one type; list types parse conditions differently. */
  under(type: TbfType): (conditions: string) => Taken {
    const key = type.isList ? (type.fields[0] ?? '') : ''
    const known = this.#byType.get(key) ?? new Map<string, Taken>()
    this.#byType.set(key, known)
    return (conditions) => {
      let taken = known.get(conditions)
      if (!taken) {
        if (known.size > 20_000) known.clear()
        const shape = shapeOf(conditions, type)
        known.set(conditions, (taken = { shape, ids: shape && exactJobIds(shape) }))
      }
      return taken
    }
  }
}

/**
 * Rules of one head, indexed for queries about many jobs.
 *
 * @complexity  O(1) for a job when all rules name job ids exactly, else O(rules that do not).
 */
export class Binder<R extends MatchRule> {
  /** Rules with their structure; undefined for an unparsable one, which may match anything. */
  readonly #rules: readonly ({ readonly rule: R } & Taken)[]
  /** Indices of the rules that name a job id exactly, and of all others. */
  readonly #exact = new Map<string, number[]>()
  readonly #open: number[] = []
  readonly #usesNid: boolean
  readonly #usesOpcode: boolean

  /** @param rules  rules of one TBF head in match order, conditions as written. */
  constructor(rules: readonly R[], type: TbfType, shapes = new ShapeCache()) {
    const take = shapes.under(type)
    this.#rules = rules.filter((r) => r.name !== DEFAULT_RULE).map((rule) => ({ rule, ...take(rule.conditions) }))
    const uses = (field: 'nid' | 'opcode'): boolean =>
      this.#rules.some(({ shape }) => shape?.some((all) => all.some((c) => c.field === field)) ?? true)
    this.#usesNid = uses('nid')
    this.#usesOpcode = uses('opcode')
    this.#rules.forEach(({ ids }, i) => {
      if (!ids) this.#open.push(i)
      for (const id of ids ?? []) {
        const at = this.#exact.get(id)
        if (at) at.push(i)
        else this.#exact.set(id, [i])
      }
    })
  }

  /** Job ids that the rules may match; undefined: any. */
  get ids(): Iterable<string> | undefined {
    return this.#open.length === 0 ? this.#exact.keys() : undefined
  }

  /** Indices of the rules that may match a job id, in match order. */
  #candidates(jobId: string | undefined): readonly number[] {
    const exact = this.#exact.get(jobId ?? '')
    if (!exact) return this.#open
    if (this.#open.length === 0) return exact
    // Both lists are ascending, so they are merged.
    const out: number[] = []
    for (let i = 0, k = 0; i < exact.length || k < this.#open.length;) {
      out.push(((exact[i] ?? Infinity) < (this.#open[k] ?? Infinity) ? exact[i++] : this.#open[k++]) as number)
    }
    return out
  }

  /** Returns the binding of an RPC with these known fields. */
  bind(request: KnownRequest): Binding<R> {
    if (this.#open.length === 0 && !this.#exact.has(request.jobId ?? '')) return NOWHERE
    const may: R[] = []
    for (const at of this.#candidates(request.jobId)) {
      const { rule, shape } = this.#rules[at] as { rule: R } & Taken
      const verdict = shape && shapeMatches(shape, request)
      if (verdict) return { sure: rule, may }
      if (verdict === undefined) may.push(rule)
    }
    return { sure: undefined, may }
  }

  /**
   * Returns the bindings of a job, one for each kind of its RPCs that the rules distinguish: by RPC name and NID, where known and matched
   * by a rule. NIDs are not distinguished beyond 256 kinds.
   */
  bindJob(job: LiveJob): readonly Binding<R>[] {
    return this.#kinds(job).map((kind) => this.bind(kind))
  }

  /** Returns the rules that match all, some or perhaps some of a job's RPCs, regardless of earlier rules. */
  matching(job: LiveJob): Map<R, Share> {
    const out = new Map<R, Share>()
    const kinds = this.#kinds(job)
    for (const at of this.#candidates(job.jobId)) {
      const { rule, shape } = this.#rules[at] as { rule: R } & Taken
      let sure = 0
      let may = 0
      for (const kind of kinds) {
        const verdict = shape && shapeMatches(shape, kind)
        if (verdict) sure++
        else if (verdict === undefined) may++
      }
      if (sure + may > 0) out.set(rule, sure === kinds.length ? 'all' : sure > 0 ? 'some' : 'may')
    }
    return out
  }

  /** Fields of an RPC, besides its job, that these rules match; only these distinguish kinds of RPCs. */
  get distinguishes(): { readonly nid: boolean; readonly opcode: boolean } {
    return { nid: this.#usesNid, opcode: this.#usesOpcode }
  }

  /**
   * Returns a test for jobs: true if one of the selected rules matches or may match the job, anywhere in the list.
   *
   * @complexity  O(1) for a job if all selected rules name job ids exactly, independent of the number of other rules.
   */
  among(isOne: (rule: R) => boolean): (job: LiveJob) => boolean {
    const exact = new Map<string, number[]>()
    const open: number[] = []
    this.#rules.forEach(({ rule, ids }, at) => {
      if (!isOne(rule)) return
      if (!ids) open.push(at)
      for (const id of ids ?? []) {
        const there = exact.get(id)
        if (there) there.push(at)
        else exact.set(id, [at])
      }
    })
    if (exact.size === 0 && open.length === 0) return () => false
    return (job) => {
      const named = exact.get(job.jobId)
      if (!named && open.length === 0) return false
      const kinds = this.#kinds(job)
      const meets = (at: number): boolean => {
        const shape = this.#rules[at]?.shape
        return kinds.some((kind) => !shape || shapeMatches(shape, kind) !== false)
      }
      return (named?.some(meets) ?? false) || open.some(meets)
    }
  }

  #kinds(job: LiveJob): KnownRequest[] {
    const opcodes: readonly (string | undefined)[] = this.#usesOpcode && job.opcodes?.length ? job.opcodes : [undefined]
    const isMany = opcodes.length * (job.nids?.length ?? 1) > KINDS_MAX
    const nids: readonly (string | undefined)[] = this.#usesNid && job.nids?.length && !isMany ? job.nids : [undefined]
    const { jobId, uid, gid, projid, nodemap } = job
    return opcodes.flatMap((opcode) => nids.map((nid) => ({ jobId, uid, gid, projid, nodemap, opcode, nid })))
  }
}

/** Part of a job's RPCs that a rule matches: all, some, or perhaps some. */
export type Share = 'all' | 'some' | 'may'

/** Rules that a job's RPCs match, in the order found; the built-in rule is undefined. */
export function sharesOf<R extends MatchRule>(bindings: readonly Binding<R>[]): Map<R | undefined, Share> {
  const sure = new Map<R | undefined, number>()
  const out = new Map<R | undefined, Share>()
  for (const b of bindings) {
    for (const rule of [...b.may, b.sure]) if (!out.has(rule)) out.set(rule, 'may')
    if (b.may.length === 0) sure.set(b.sure, (sure.get(b.sure) ?? 0) + 1)
  }
  for (const [rule, kinds] of sure) out.set(rule, kinds === bindings.length ? 'all' : 'some')
  return out
}
