/**
 * Attributes that distinguish requests, and the token that finds a channel: the enabled attributes as text, joined by
 * `|` in the order workflow|type|context, hashed with MurmurHash3 x86_32, seed 42.
 *
 * Source: spec/padll 1.4. Added by Sluice: size class, user and job, as in the paper, appended with a letter each and
 * `|` escaped; keys are compared when tokens collide, so that no job name leads into another job's channel. Attributes
 * that count: upstream has one mask for the whole stage and requires an exact match. Here each channel has its own, the
 * attributes that its rule names, and the most specific match wins: job, user, operation, size class, class, pseudo
 * class (`metadata`, `data`), `total`, workflow, in this order. A mask for the whole stage may be set instead.
 */
import type { PosixCallRow } from '../posix-calls.ts'
import { OPERATION_CONTEXTS, OPERATION_TYPES, type OperationType } from '../vocabulary.ts'
import { murmur3 } from './murmur3.ts'

export const ATTRIBUTES = ['workflow', 'type', 'context', 'size', 'user', 'job'] as const
export type Attribute = (typeof ATTRIBUTES)[number]

/** Selection of a channel or an object; 0 and '' mean any. */
export interface Conditions {
  readonly workflow: number
  readonly type: number
  readonly context: number
  readonly size: number
  readonly user: string
  readonly job: string
}

/** Attributes of a request: types and contexts that may match, the narrowest first. */
export interface Attributes {
  readonly workflow: number
  readonly types: readonly number[]
  readonly contexts: readonly number[]
  readonly size: number
  readonly user: string
  readonly job: string
}

export const ANY: Conditions = { workflow: 0, type: 0, context: 0, size: 0, user: '', job: '' }

/** Upper bounds of the size classes 1 to 3, bytes; above is class 4. Class 0: the call has no size. */
export const SIZE_CLASS_ENDS = [4096, 65_536, 1_048_576] as const

export function sizeClassOf(bytes: number): number {
  if (bytes <= SIZE_CLASS_ENDS[0]) return 1
  if (bytes <= SIZE_CLASS_ENDS[1]) return 2
  return bytes <= SIZE_CLASS_ENDS[2] ? 3 : 4
}

export type Mask = ReadonlySet<Attribute>

const escaped = (text: string): string => text.replace(/[\\|]/g, '\\$&')

/** Returns the text that is hashed. */
export function keyOf(mask: Mask, of: Conditions): string {
  const parts: string[] = []
  if (mask.has('workflow')) parts.push(String(of.workflow))
  if (mask.has('type')) parts.push(String(of.type))
  if (mask.has('context')) parts.push(String(of.context))
  if (mask.has('size')) parts.push(`s${of.size}`)
  if (mask.has('user')) parts.push(`u${escaped(of.user)}`)
  if (mask.has('job')) parts.push(`j${escaped(of.job)}`)
  return parts.join('|')
}

/** 64-bit variants match the plain name, too. */
const PLAIN: Partial<Record<OperationType, OperationType>> = {
  pread64: 'pread',
  pwrite64: 'pwrite',
  fopen64: 'fopen',
  statfs64: 'statfs',
  fstatfs64: 'fstatfs',
}

/** Types that match a call, the narrowest first. `exact`: only its own, as upstream. */
export function typesOf(call: PosixCallRow, exact: boolean): number[] {
  const type = call.type ?? 'no_op'
  if (exact) return [OPERATION_TYPES[type]]
  const names: OperationType[] = [type, PLAIN[type] ?? type, call.klass === 'data' ? 'data' : 'metadata', 'total']
  return names.map((name) => OPERATION_TYPES[name])
}

/** Contexts that match a call, likewise: class policies on `meta_op` reach directory and ext-attr calls, too. */
export function contextsOf(call: PosixCallRow, exact: boolean): number[] {
  const { data_op, meta_op, dir_op, ext_attr_op } = OPERATION_CONTEXTS
  if (exact) return [OPERATION_CONTEXTS[call.context]]
  if (call.klass === 'data') return [data_op, data_op]
  const narrow = call.klass === 'directory' ? dir_op : call.klass === 'ext_attr' ? ext_attr_op : meta_op
  return [narrow, meta_op]
}

/** Weights of attributes in a match's specificity. All sums differ. */
const WEIGHTS = { workflow: 1, size: 128, user: 256, job: 512 } as const
const TYPE_WEIGHTS = [64, 32, 4, 2] as const
const CONTEXT_WEIGHTS = [16, 8] as const

interface Entry<T> {
  readonly key: string
  readonly value: T
}

/** Table of entries by conditions: the channels of a stage, the objects of a channel. */
export class TokenTable<T> {
  readonly #stageMask: Mask | undefined
  readonly #masks = new Map<string, { readonly mask: Mask; readonly byToken: Map<number, Entry<T>[]> }>()

  /** @param mask  attributes that count; without it each entry has its own. */
  constructor(mask?: Mask) {
    this.#stageMask = mask
  }

  /** Returns false if the key exists already. */
  add(conditions: Conditions, value: T): boolean {
    const mask = this.#stageMask ?? new Set(ATTRIBUTES.filter((a) => conditions[a] !== ANY[a]))
    const name = [...mask].join()
    let group = this.#masks.get(name)
    if (group === undefined) this.#masks.set(name, (group = { mask, byToken: new Map() }))
    const key = keyOf(mask, conditions)
    const token = murmur3(key)
    const entries = group.byToken.get(token) ?? []
    if (entries.some((e) => e.key === key)) return false
    group.byToken.set(token, [...entries, { key, value }])
    return true
  }

  /** Returns the most specific entry for a request. */
  find(request: Attributes): T | undefined {
    let best: T | undefined
    let bestScore = -1
    for (const { mask, byToken } of this.#masks.values()) {
      const base =
        (mask.has('workflow') ? WEIGHTS.workflow : 0) +
        (mask.has('size') ? WEIGHTS.size : 0) +
        (mask.has('user') ? WEIGHTS.user : 0) +
        (mask.has('job') ? WEIGHTS.job : 0)
      const types = mask.has('type') ? request.types : [0]
      const contexts = mask.has('context') ? request.contexts : [0]
      for (const [i, type] of types.entries()) {
        for (const [j, context] of contexts.entries()) {
          const score =
            base +
            (mask.has('type') ? (TYPE_WEIGHTS[i] ?? 0) : 0) +
            (mask.has('context') ? (CONTEXT_WEIGHTS[j] ?? 0) : 0)
          if (score <= bestScore) continue
          const key = keyOf(mask, { ...request, type, context })
          const entry = byToken.get(murmur3(key))?.find((e) => e.key === key)
          if (entry === undefined) continue
          best = entry.value
          bestScore = score
        }
      }
    }
    return best
  }
}
