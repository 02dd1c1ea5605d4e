/**
 * Classes by the fields of a TBF type: one map per field, nested in the order of the type, so that an RPC finds its class
 * without building a key.
 *
 * Source: spec/lustre 2.1 (the key is the concatenation of the enabled fields).
 */
import { UNKNOWN_ID, type Field, type RequestKey } from './request-key.ts'

type Part = string | number
/** The parts of a class's key, as `remove` takes them. */
export type ClassKey = readonly Part[]
type PartOf = (request: RequestKey) => Part

/** A field's part of a class key; an absent field has a distinct value. */
const PARTS: Readonly<Record<Field, PartOf>> = {
  jobid: (r) => r.jobId,
  nid: (r) => r.nid,
  opcode: (r) => r.opcode ?? '',
  uid: (r) => r.uid ?? UNKNOWN_ID,
  gid: (r) => r.gid ?? UNKNOWN_ID,
  projid: (r) => r.projid ?? UNKNOWN_ID,
  nodemap: (r) => r.nodemap ?? -1,
}

/** A map of the last field holds classes, the others hold maps. */
type Level<C> = Map<Part, Level<C> | C>

export class ClassIndex<C extends object> {
  readonly #first: PartOf
  readonly #rest: readonly PartOf[]
  readonly #root: Level<C> = new Map()

  /** @param fields  at least one. */
  constructor(fields: readonly Field[]) {
    const [first, ...rest] = fields.map((f) => PARTS[f])
    this.#first = first as PartOf
    this.#rest = rest
  }

  get(request: RequestKey): C | undefined {
    let found = this.#root.get(this.#first(request))
    for (const part of this.#rest) {
      if (found === undefined) return undefined
      found = (found as Level<C>).get(part(request))
    }
    return found as C | undefined
  }

  /** Adds a class for a request that has none. */
  add(request: RequestKey, c: C): ClassKey {
    const key = [this.#first, ...this.#rest].map((part) => part(request))
    let level = this.#root
    for (const part of key.slice(0, -1)) {
      let next = level.get(part) as Level<C> | undefined
      if (!next) level.set(part, (next = new Map()))
      level = next
    }
    level.set(key.at(-1) as Part, c)
    return key
  }

  remove(key: ClassKey): void {
    const path: Level<C>[] = [this.#root]
    for (const part of key.slice(0, -1)) path.push((path.at(-1) as Level<C>).get(part) as Level<C>)
    for (let i = key.length - 1; i >= 0; i--) {
      const level = path[i] as Level<C>
      level.delete(key[i] as Part)
      if (level.size > 0) break
    }
  }
}
