/**
 * Under which rule a job's RPCs fall: the first that matches. job_stats tells little more of a job than its id, so a rule that
 * asks for more matches, does not, or may.
 */
import type { TbfType } from '../tbf/tbf-type.ts'
import { exactJobIds, shapeMatches, shapeOf, type KnownRequest, type Shape } from './condition-shape.ts'
import type { LiveJob } from './live-job.ts'
import { DEFAULT_RULE } from './server-rules.ts'

/** What of a rule decides on matching. */
export interface MatchRule {
  readonly name: string
  /** In the form in which it is written. */
  readonly conditions: string
}

/** Where one kind of a job's RPCs goes. */
export interface Binding<R extends MatchRule> {
  /** First rule that surely matches; undefined: only `default` is left. */
  readonly sure: R | undefined
  /** Rules before it that may match, in match order. */
  readonly may: readonly R[]
}

/** Most kinds of RPCs that a job is taken apart into. */
const KINDS_MAX = 256
const NOWHERE: Binding<never> = { sure: undefined, may: [] }

/** A condition taken apart, and the job ids that it names exactly. */
interface Taken {
  readonly shape: Shape | undefined
  readonly ids: readonly string[] | undefined
}

/** Structures of conditions by type, kept because the same rules are judged over and over. */
export class ShapeCache {
  readonly #byType = new Map<string, Map<string, Taken>>()

  /** The structures under one type; list types read conditions in their own way. */
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
 * The rules of one head, ready to be asked for many jobs.
 *
 * @complexity  O(1) for a job when all rules name job ids exactly, else O(rules that do not).
 */
export class Binder<R extends MatchRule> {
  /** Rules with their structure; undefined for one that cannot be read and so may match anything. */
  readonly #rules: readonly ({ readonly rule: R } & Taken)[]
  /** Indices of the rules that name a job id exactly, and of all others. */
  readonly #exact = new Map<string, number[]>()
  readonly #open: number[] = []
  readonly #usesNid: boolean
  readonly #usesOpcode: boolean

  /** @param rules  of one head in match order, conditions as written. */
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

  /** Job ids that rules can have to do with; undefined: any. */
  get ids(): Iterable<string> | undefined {
    return this.#open.length === 0 ? this.#exact.keys() : undefined
  }

  /** Indices of the rules that may have to do with a job id, in match order. */
  #candidates(jobId: string | undefined): readonly number[] {
    const exact = this.#exact.get(jobId ?? '')
    if (!exact) return this.#open
    if (this.#open.length === 0) return exact
    // Both lists ascend: they are walked together.
    const out: number[] = []
    for (let i = 0, k = 0; i < exact.length || k < this.#open.length;) {
      out.push(((exact[i] ?? Infinity) < (this.#open[k] ?? Infinity) ? exact[i++] : this.#open[k++]) as number)
    }
    return out
  }

  /** Where an RPC goes of which this much is known. */
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
   * Where a job's RPCs go, one entry for each kind that the rules can tell apart: by RPC name and NID, where these are known
   * and asked for. Beyond 256 kinds NIDs are not told apart.
   */
  bindJob(job: LiveJob): readonly Binding<R>[] {
    return this.#kinds(job).map((kind) => this.bind(kind))
  }

  /** Rules that match a job's RPCs, all, some or perhaps, whatever stands before them. */
  matching(job: LiveJob): Map<R, Share> {
    const out = new Map<R, Share>()
    const kinds = this.#kinds(job)
    for (const at of this.#candidates(job.jobId)) {
      const { rule, shape } = this.#rules[at] as { rule: R } & Taken
      let [sure, may] = [0, 0]
      for (const kind of kinds) {
        const verdict = shape && shapeMatches(shape, kind)
        if (verdict) sure++
        else if (verdict === undefined) may++
      }
      if (sure + may > 0) out.set(rule, sure === kinds.length ? 'all' : sure > 0 ? 'some' : 'may')
    }
    return out
  }

  /** What of an RPC, besides its job, these rules ask for: kinds of RPCs are told apart by no more. */
  get tellsApart(): { readonly nid: boolean; readonly opcode: boolean } {
    return { nid: this.#usesNid, opcode: this.#usesOpcode }
  }

  /**
   * Asks jobs whether some of the rules have to do with them, or may, wherever these stand in the list.
   *
   * @complexity  O(1) for a job when all of these name job ids exactly, however many others there are.
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

/** How a rule has to do with a job: with all of its RPCs, with some, or perhaps with some. */
export type Share = 'all' | 'some' | 'may'

/** Rules that a job's RPCs go to, in the order in which they were met; the built-in rule is undefined. */
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
